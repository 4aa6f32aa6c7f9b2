"""PyTorch's side of `cuda_check decode lora full 14b`, on the same GPU: the same shapes, lengths and counting.

    cuda_check decode lora full 14b --json engine.jsonl
    python cuda_speed.py --models 0.5B,1.5B --json torch.jsonl
    python cuda_speed.py --join engine.jsonl torch.jsonl

Rows are printed as they come, and what `--total` leaves no time for is told. For large models, in two calls of less
than ten minutes:

    python cuda_speed.py --models 7B,14B --sections lora,full,static --batches 64 --limit 170 --json torch_large.jsonl
    python cuda_speed.py --models 7B,14B --sections eager,lora-layers --batches 64 --limit 170 --json torch_more.jsonl

Sections, in the order they run (`--sections` chooses):

    eager          `generate` as it comes: a growing cache, no compilation
    lora full      training steps of 16 x 1024 tokens: forward, backward, norm, AdamW; SDPA attention
    static         `generate(cache_implementation="static")`, which compiles the step and replays CUDA graphs
    lora-compile full-compile    training under torch.compile, the whole model and its loss in one graph
    lora-layers full-layers full-bf16    on request: each layer compiled alone; moments and weights all bf16

PyTorch is given what is fast there: bf16 weights, fused AdamW, f32 masters beside them rather than autocast (as the
engine has), adapters as two more products of a linear layer. Every section is a process of its own and is ended at its
time limit; rows it had finished stay. A row is one JSON line. Training that runs out of memory is tried once more with
layers computed again on the way back; full training whose weights and moments alone do not fit is not tried.
`--tiny` runs everything on the CPU with a toy model, to see that the script itself is sound.
"""

import argparse
import gc
import json
import os
import signal
import sys
import time
import traceback

# Imports count into the total too.
BEGIN = time.monotonic()
os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))
# Asking whether there is a GPU must not start CUDA: sections are forked.
os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

SHAPES = {  # hidden, layers, heads, key-value heads, feed-forward, vocabulary, tied
    "0.5B": (896, 24, 14, 2, 4864, 151_936, True),
    "1.5B": (1536, 28, 12, 2, 8960, 151_936, True),
    "7B": (3584, 28, 28, 4, 18944, 152_064, False),
    "14B": (5120, 48, 40, 8, 13824, 152_064, False),
    "tiny": (64, 2, 4, 2, 96, 512, True),
}
SECTIONS = ["eager", "lora", "full", "static", "lora-compile", "full-compile"]
ON_REQUEST = ["lora-layers", "full-layers", "full-bf16"]
# Dense bf16 and memory bandwidth by the vendor's sheet of the H200.
PEAK_FLOPS, PEAK_BYTES = 989e12, 4.8e12
PROMPT, SHORT = 37, 8


class Shape:
    def __init__(self, name):
        self.name = name
        self.hidden, self.layers, self.heads, self.kv_heads, self.ffn, self.vocab, self.tied = SHAPES[name]
        self.kv_width = self.hidden // self.heads * self.kv_heads

    def multiplied(self):
        """Values in matrices that rows are multiplied by."""
        layer = self.hidden * (2 * self.hidden + 2 * self.kv_width) + 3 * self.hidden * self.ffn
        return layer * self.layers + self.vocab * self.hidden

    def trained_bytes(self, mode):
        """Least bytes that full training holds when it steps: weights, gradients and moments, and their masters."""
        values = self.multiplied() + (0 if self.tied else self.vocab * self.hidden)
        return values * (8 if mode == "full-bf16" else 2 + 4 + 4 + 8)

    def config(self):
        from transformers import Qwen2Config

        return Qwen2Config(
            hidden_size=self.hidden, num_hidden_layers=self.layers, num_attention_heads=self.heads,
            num_key_value_heads=self.kv_heads, intermediate_size=self.ffn, vocab_size=self.vocab,
            tie_word_embeddings=self.tied, max_position_embeddings=4096, rms_norm_eps=1e-6,
            rope_parameters={"rope_type": "default", "rope_theta": 1e6},
            bos_token_id=None, eos_token_id=None, pad_token_id=None, attn_implementation="sdpa")


class Machine:
    """The device, and what differs between it and a CPU."""

    def __init__(self, tiny):
        self.cuda = not tiny
        self.device = "cuda" if self.cuda else "cpu"
        self.batches = [64, 1, 256] if self.cuda else [4, 1]
        self.tokens = 600 if self.cuda else 24
        self.rows = (16, 1024) if self.cuda else (2, 32)

    def seconds(self, work):
        self.wait()
        start = time.perf_counter()
        work()
        self.wait()
        return time.perf_counter() - start

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()

    def take_peak(self):
        """GiB held by tensors at once since the last call; what the allocator keeps in reserve is not counted."""
        if not self.cuda:
            return 0.0
        peak = torch.cuda.max_memory_allocated() / 2**30
        torch.cuda.reset_peak_memory_stats()
        return peak

    def memory(self):
        return torch.cuda.get_device_properties(0).total_memory if self.cuda else float("inf")

    def is_out_of_memory(self, error):
        """Libraries that find no room for themselves say it in their own words."""
        words = str(error)
        told = any(word in words for word in ("out of memory", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED"))
        return isinstance(error, torch.OutOfMemoryError) or (isinstance(error, RuntimeError) and told)


def random_model(shape, machine):
    from transformers import Qwen2ForCausalLM

    torch.manual_seed(1)
    with torch.device(machine.device):
        return Qwen2ForCausalLM._from_config(shape.config(), dtype=torch.bfloat16)


# Decoding


def decode(machine, shape, how, report):
    model = random_model(shape, machine).eval()
    for batch in machine.batches:
        decode_row(machine, shape, model, how, batch, report)
        torch._dynamo.reset()


def decode_row(machine, shape, model, how, batch, report):
    prompt = torch.tensor([[(i * 7919 + 13) % min(40000, shape.vocab) for i in range(PROMPT)]] * batch, device=machine.device)
    options = dict(do_sample=True, temperature=1.0, top_k=0, top_p=1.0, attention_mask=torch.ones_like(prompt))
    if how == "static":
        options["cache_implementation"] = "static"
        if not machine.cuda:
            from transformers import CompileConfig

            options["compile_config"] = CompileConfig(mode="default")
            options["compile_config"]._compile_all_devices = True

    def answer(tokens):
        found = model.generate(prompt, max_new_tokens=tokens, **options)
        assert found.shape == (batch, PROMPT + tokens), f"{found.shape} came instead"

    machine.take_peak()
    # The long call first where there is something to compile: later, shorter calls keep its cache's length.
    warm = machine.seconds(lambda: answer(machine.tokens if how == "static" else SHORT))
    prefill = machine.seconds(lambda: answer(SHORT))
    seconds = machine.seconds(lambda: answer(machine.tokens)) - prefill
    steps = machine.tokens - SHORT
    cache = batch * (PROMPT + machine.tokens // 2) * 2 * shape.kv_width * shape.layers * 2
    read = shape.multiplied() * 2 + cache
    report(dict(section="decode", model=shape.name, how=how, batch=batch, adapter="none",
                tokens_per_second=batch * steps / seconds, ms_per_step=seconds / steps * 1e3,
                of_bandwidth=read * steps / seconds / PEAK_BYTES, peak_gib=machine.take_peak(), warm_up_s=warm))


# Training


def adapt(model, rank=16, alpha=32.0):
    """Gives every linear layer but the head an adapter in f32 that is computed in bf16; nothing else is trained."""

    class Adapted(torch.nn.Module):
        def __init__(self, base):
            super().__init__()
            self.base, self.scale = base, alpha / rank
            here = dict(device=base.weight.device, dtype=torch.float32)
            self.a = torch.nn.Parameter(torch.randn(rank, base.in_features, **here) * 0.02)
            self.b = torch.nn.Parameter(torch.randn(base.out_features, rank, **here) * 0.02)

        def forward(self, x):
            low = torch.nn.functional.linear(x, self.a.to(x.dtype))
            return self.base(x) + torch.nn.functional.linear(low, self.b.to(x.dtype)) * self.scale

    model.requires_grad_(False)
    for parent in list(model.model.layers.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, torch.nn.Linear):
                setattr(parent, name, Adapted(child))
    return model


class Optimiser:
    """AdamW after clipping; weights in bf16 have masters and moments in f32 unless `masters` is off."""

    def __init__(self, weights, masters, fused):
        self.weights = weights
        self.apart = masters and any(weight.dtype != torch.float32 for weight in weights)
        self.masters = [weight.detach().float().requires_grad_() for weight in weights] if self.apart else weights
        self.adamw = torch.optim.AdamW(self.masters, lr=1e-5, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0, fused=fused)

    def step(self):
        if self.apart:
            for master, weight in zip(self.masters, self.weights):
                master.grad, weight.grad = weight.grad.float(), None
        norm = torch.nn.utils.clip_grad_norm_(self.masters, 1.0, foreach=True)
        self.adamw.step()
        self.adamw.zero_grad(set_to_none=True)
        if self.apart:
            with torch.no_grad():
                torch._foreach_copy_(self.weights, self.masters)
        return norm


def train(machine, shape, mode, how, report):
    needed = shape.trained_bytes(mode)
    if mode != "lora" and needed > machine.memory():
        report(dict(section="train", model=shape.name, mode=mode, how=how,
                    failed=f"not tried: {needed / 2**30:.0f} GiB of {machine.memory() / 2**30:.0f} without activations"))
        return
    try:
        train_row(machine, shape, mode, how, False, report)
        return
    except Exception as error:
        if not machine.is_out_of_memory(error):
            raise
        report(dict(section="train", model=shape.name, mode=mode, how=how, recompute="off", failed="out of memory"))
    torch._dynamo.reset()
    gc.collect()
    torch.cuda.empty_cache()
    train_row(machine, shape, mode, how, True, report)


def train_row(machine, shape, mode, how, recompute, report):
    model = random_model(shape, machine).train()
    if mode == "lora":
        adapt(model)
    if recompute:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=dict(use_reentrant=False))
    batch, length = machine.rows
    ids = torch.arange(batch * length, device=machine.device).mul(7919).remainder(min(40013, shape.vocab)).view(batch, length)
    optimiser = Optimiser([weight for weight in model.parameters() if weight.requires_grad], mode != "full-bf16", machine.cuda)
    forward = lambda: model(input_ids=ids, labels=ids, use_cache=False).loss
    if how == "compile":
        forward = torch.compile(forward)
    elif how == "layers":
        for layer in model.model.layers:
            layer.compile()

    def step():
        loss = forward()
        loss.backward()
        norm = optimiser.step()
        return loss.item(), norm.item()

    machine.take_peak()
    start = time.perf_counter()
    step()
    warm_loss, _ = step()
    warm = time.perf_counter() - start
    times, last = 5, []
    seconds = machine.seconds(lambda: last.extend(step() for _ in range(times))) / times
    rows, width = batch * length, shape.hidden
    # Products: forward and the gradient of inputs, and in full training that of weights. Attention: causal halves.
    passes = 4 if mode == "lora" else 6
    flops = rows * (passes * shape.multiplied() + 6 * length * width * shape.layers)
    report(dict(section="train", model=shape.name, mode=mode, how=how, recompute="on" if recompute else "off", batch=batch,
                ms_per_step=seconds * 1e3, tokens_per_second=rows / seconds, mfu=flops / seconds / PEAK_FLOPS,
                peak_gib=machine.take_peak(), warm_up_s=warm, loss=[warm_loss, last[-1][0]], norm=last[-1][1]))


# Running sections, and showing what came of them


def inside(machine, name, section, report):
    torch.set_float32_matmul_precision("high")
    shape = Shape(name)
    if section in ("eager", "static"):
        return decode(machine, shape, section, report)
    mode, _, how = section.partition("-")
    if section == "full-bf16":
        mode, how = "full-bf16", ""
    return train(machine, shape, mode, how or "eager", report)


def guarded(machine, name, section, report):
    try:
        inside(machine, name, section, report)
    except BaseException as error:
        first = (str(error).strip() or "no words").splitlines()[0][:200]
        report(dict(section=section, model=name, failed=f"{type(error).__name__}: {first}"))
        traceback.print_exc(limit=-3)


def run_section(machine, name, section, limit, report):
    """Runs one section in a process of its own, which is ended with all it started at its limit.

    A fork spares the imports; where CUDA's library is loaded already, a fork might not get it to work again.
    """
    sys.stdout.flush()
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        os.setsid()
        if "libcuda.so" in open("/proc/self/maps").read() or os.environ.get("CUDA_SPEED_FRESH"):
            os.execv(sys.executable, [sys.executable, *sys.argv, "--inside", name, section])
        guarded(machine, name, section, report)
        sys.stdout.flush()
        os._exit(0)
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() - start > limit:
            report(dict(section=section, model=name, failed=f"ended after its {limit:.0f} s"))
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            break
        time.sleep(0.05)
    print(f"# {name} {section}: {time.monotonic() - start:.1f} s", flush=True)


def measure(arguments):
    global torch
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    names = ["tiny"] if arguments.tiny else arguments.models.split(",")
    sections = arguments.sections.split(",")
    unknown = [n for n in names if n not in SHAPES] + [s for s in sections if s not in SECTIONS + ON_REQUEST]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; models {', '.join(SHAPES)}; sections {', '.join(SECTIONS + ON_REQUEST)}")
    machine = Machine(arguments.tiny)
    if arguments.batches:
        machine.batches = [int(batch) for batch in arguments.batches.split(",")]
    if arguments.rows:
        machine.rows = (arguments.rows, machine.rows[1])
    out = open(arguments.json, "a")

    def report(row):
        line = json.dumps(dict(side="pytorch", **row))
        print(line, flush=True)
        out.write(line + "\n")
        out.flush()

    if arguments.inside:
        return guarded(machine, *arguments.inside, report)
    out.truncate(0)
    print(f"# torch {torch.__version__}, transformers {transformers.__version__}, {torch.get_num_threads()} threads, "
          f"OMP_NUM_THREADS={os.environ['OMP_NUM_THREADS']}, {'the CPU, tiny' if arguments.tiny else 'CUDA'}", flush=True)
    over = BEGIN + arguments.total
    for section in sections:
        for name in names:
            left = over - time.monotonic()
            if left < 5:
                report(dict(section=section, model=name, failed=f"not begun: the total of {arguments.total:.0f} s is spent"))
            else:
                run_section(machine, name, section, min(arguments.limit, left), report)
    print()
    table(read([arguments.json]))


def read(paths):
    return [json.loads(line) for path in paths for line in open(path) if line.strip()]


def key(row):
    """What a row is about: decoding by batch, training by mode and batch."""
    if row["section"] == "decode":
        return row["model"], "decode" + (" with r16" if row["adapter"] != "none" else ""), row["batch"]
    return row["model"], row["mode"], row["batch"]


def how_words(row):
    if row["side"] == "engine":
        return "engine" if row["section"] == "decode" else f"engine, recompute {row['recompute']}"
    return f"PyTorch {row['how']}" + (", recompute" if row.get("recompute") == "on" else "")


def table(rows):
    """One table of all sides; the last column is the engine's speed over that row's, where the engine was measured."""
    good = [row for row in rows if "failed" not in row]
    best = {}
    for row in good:
        if row["side"] == "engine":
            best[key(row)] = max(best.get(key(row), 0.0), row["tokens_per_second"])
    print("| model | what | batch | who | tokens/s | ms a step | of the machine | peak GiB | engine is |\n" + "|---" * 9 + "|")
    order = lambda row: (list(SHAPES).index(row["model"]), row["section"], *map(str, key(row)[1:2]), key(row)[2], row["side"])
    for row in sorted(good, key=order):
        share = f"{row['of_bandwidth']:.1%} bytes" if row["section"] == "decode" else f"{row['mfu']:.1%} MFU"
        # PyTorch's other kinds of full training stand beside the engine's one.
        ours = best.get(key(row)) or best.get((key(row)[0], key(row)[1].split("-")[0], key(row)[2]))
        ratio = f"{ours / row['tokens_per_second']:.2f} x" if ours and row["side"] != "engine" else ""
        print(f"| {row['model']} | {key(row)[1]} | {row['batch']} | {how_words(row)} | {row['tokens_per_second']:,.0f} "
              f"| {row['ms_per_step']:.2f} | {share} | {row['peak_gib']:.1f} | {ratio} |")
    for row in rows:
        if "failed" in row:
            about = " ".join(str(row[part]) for part in ("side", "model", "section", "mode", "how", "recompute") if part in row)
            print(f"- {about}: {row['failed']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="0.5B,1.5B", help="of 0.5B, 1.5B, 7B, 14B")
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--batches", help="of the decode sections, in order (64,1,256)")
    parser.add_argument("--rows", type=int, help="sequences of a training step (16)")
    parser.add_argument("--limit", type=float, default=150, help="seconds that one section of one model may take")
    parser.add_argument("--total", type=float, default=560, help="seconds for everything, imports included")
    parser.add_argument("--json", default="torch.jsonl", help="where the rows go")
    parser.add_argument("--tiny", action="store_true", help="a toy model on the CPU")
    parser.add_argument("--join", nargs="+", metavar="ROWS", help="only show these files as one table")
    parser.add_argument("--inside", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.join:
        return table(read(arguments.join))
    return measure(arguments)


if __name__ == "__main__":
    main()
