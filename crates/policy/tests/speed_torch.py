"""PyTorch's side of `speed.py`: one measurement, one JSON line.

    python speed_torch.py MODEL THREADS decode|lora|lora-checkpoint BATCH LENGTH

The decode loop is the plain one over a static cache, without `generate`'s overhead; training uses SDPA.
`SPEED_DTYPE=bfloat16` loads the weights in bf16.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, StaticCache

path, threads, what, batch, length = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
torch.set_num_threads(threads)
where = (path, dict()) if path.is_dir() else (path.parent, dict(gguf_file=path.name))
model = AutoModelForCausalLM.from_pretrained(where[0], **where[1], dtype=getattr(torch, os.environ.get("SPEED_DTYPE", "float32")), attn_implementation="sdpa")
loaded = resource.getrusage(resource.RUSAGE_SELF)


def decode():
    prompt = torch.tensor([[(i * 7919 + 13) % 40000 for i in range(37)]] * batch)
    with torch.inference_mode():
        cache = StaticCache(config=model.config, max_cache_len=37 + length + 4)
        token = model(prompt, past_key_values=cache).logits[:, -1].argmax(-1)
        step = lambda t: torch.distributions.Categorical(logits=model(t[:, None], past_key_values=cache).logits[:, -1].float()).sample()
        token = step(token)
        start = time.time()
        for _ in range(length):
            token = step(token)
        return time.time() - start


def train(checkpoint):
    tuned = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]))
    if checkpoint:
        tuned.gradient_checkpointing_enable(gradient_checkpointing_kwargs=dict(use_reentrant=False))
        tuned.enable_input_require_grads()
    tuned.train()
    ids = torch.tensor([[((b * length + i) * 7919 + 13) % 40000 for i in range(length)] for b in range(batch)])
    start = time.time()
    tuned(input_ids=ids, labels=ids, use_cache=False).loss.backward()
    return time.time() - start


seconds = decode() if what == "decode" else train(what == "lora-checkpoint")
used = resource.getrusage(resource.RUSAGE_SELF)
cpu = used.ru_utime + used.ru_stime - loaded.ru_utime - loaded.ru_stime
print(json.dumps(dict(what=what, batch=batch, length=length, threads=threads, seconds=seconds, cpu_seconds=cpu,
                      tokens_per_second=batch * length / seconds, peak_mib=used.ru_maxrss // 1024)))
