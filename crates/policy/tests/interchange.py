"""Models and adapters go back and forth between the engine and transformers + peft with equal logits.

    pip install torch==2.11.0 transformers peft safetensors
    cargo build --release -p hotloop-policy --example interchange
    python interchange.py PATH/TO/interchange [MODEL.gguf]

The tiny models of `fixtures/` are always tried; with a GGUF file, that model too.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

FIXTURES = Path(__file__).parent / "fixtures"
TOKENS = [3, 17, 4, 9, 60, 33, 2, 8, 41, 5] * 4


def engine_logits(program, model, adapter, work):
    (work / "tokens.json").write_text(json.dumps(TOKENS))
    out = work / "logits.json"
    subprocess.run([program, "logits", model, adapter or "-", work / "tokens.json", out], check=True)
    return torch.tensor(json.loads(out.read_text())).reshape(len(TOKENS), -1)


def torch_logits(model):
    with torch.no_grad():
        return model.eval()(torch.tensor([TOKENS])).logits[0].float()


def load(path):
    return AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)


def same(what, engine, reference):
    error = ((engine - reference).norm() / reference.norm()).item()
    assert error < 1e-4, f"{what}: off by {error:.1e}"
    print(f"ok  {what}: {error:.1e}")


def from_engine(program, name, model, work):
    """Saved by the engine, loaded by transformers and peft."""
    full, adapter = work / "full", work / "adapter"
    subprocess.run([program, "train", model, "full", full], check=True)
    subprocess.run([program, "train", model, "lora", adapter], check=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = load(full)
        same(f"{name}, full model by the engine", engine_logits(program, full, None, work), torch_logits(loaded))
    base = load(model) if Path(model).is_dir() else load_gguf(model)
    plain = torch_logits(base)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moved = torch_logits(PeftModel.from_pretrained(base, adapter))
    assert (moved - plain).norm() > 1e-2 * plain.norm(), "the adapter does nothing"
    same(f"{name}, adapter by the engine", engine_logits(program, model, adapter, work), moved)


def load_gguf(model):
    return AutoModelForCausalLM.from_pretrained(Path(model).parent, gguf_file=Path(model).name, dtype=torch.float32)


def from_transformers(program, name, work):
    """Saved by transformers and peft, in shards and in bf16 too, loaded by the engine."""
    torch.manual_seed(5)
    model = load(FIXTURES / name)
    for kind, dtype in [("f32", torch.float32), ("bf16", torch.bfloat16), ("f16", torch.float16)]:
        saved = work / kind
        model.to(dtype).save_pretrained(saved, max_shard_size="20KB")
        assert len(list(saved.glob("model-*.safetensors"))) > 1, "not sharded"
        same(f"{name}, {kind} shards by transformers", engine_logits(program, saved, None, work), torch_logits(load(saved)))
    config = LoraConfig(r=4, lora_alpha=12, target_modules=["q_proj", "v_proj", "down_proj"], task_type="CAUSAL_LM")
    tuned = get_peft_model(load(work / "f32"), config)
    with torch.no_grad():
        for key, value in tuned.named_parameters():
            if "lora_B" in key:
                value.normal_(0, 0.3)
    tuned.save_pretrained(work / "tuned")
    same(f"{name}, adapter by peft", engine_logits(program, work / "f32", work / "tuned", work), torch_logits(tuned))


def tokenizer(program, model, work):
    """The tokenizer that the engine writes out of a GGUF file splits text as transformers' own reading of that file."""
    ours = AutoTokenizer.from_pretrained(work / "full")
    theirs = AutoTokenizer.from_pretrained(Path(model).parent, gguf_file=Path(model).name)
    for text in ["int main() { return 42; }\n\n  x += 1;", "Caf\u00e9 \u5317\u4eac 12345 don't", "<|im_start|>user\nhi<|im_end|>\n"]:
        a, b = (t(text, add_special_tokens=False)["input_ids"] for t in (ours, theirs))
        assert a == b, (text, a, b)
    chat = [dict(role="user", content="hi")]
    a, b = (t.apply_chat_template(chat, add_generation_prompt=True, tokenize=False) for t in (ours, theirs))
    assert a == b
    print("ok  tokenizer and template")


def main(program, gguf=None):
    for name in ["llama", "llama3", "qwen2", "qwen3"]:
        with tempfile.TemporaryDirectory() as work:
            from_engine(program, name, FIXTURES / name, Path(work))
        with tempfile.TemporaryDirectory() as work:
            from_transformers(program, name, Path(work))
    if gguf:
        with tempfile.TemporaryDirectory() as work:
            from_engine(program, Path(gguf).name, gguf, Path(work))
            tokenizer(program, gguf, Path(work))


if __name__ == "__main__":
    main(*sys.argv[1:])
