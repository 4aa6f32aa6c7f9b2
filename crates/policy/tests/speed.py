"""The engine and PyTorch side by side on this CPU, one after the other, each in a process of its own.

    cargo build --release -p hotloop-policy --example speed
    hotloop model convert MODEL.gguf MODEL      (PyTorch would need as much memory again to read a GGUF file)
    python speed.py PATH/TO/speed MODEL [--threads 2] [--rounds 5] [--sides engine:bf16,engine:f32,pytorch:bfloat16]

Rounds go through the sides, and every second round in the other order. The table shows medians, and the
median of the rounds' ratios of the first side to each other, which suffers least from company on the machine. A measurement during which others
used more than a tenth of the CPUs is taken again, up to `--tries` times; the last column shows what company was left.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

CASES = [("decode", 1, 64), ("decode", 8, 64), ("decode", 16, 32), ("decode", 32, 32), ("lora", 4, 512), ("lora-checkpoint", 4, 512)]
QUIET = 0.10


def engine(program, precision, model, threads, what, batch, length):
    with tempfile.TemporaryDirectory() as work:
        out = Path(work) / "speed.json"
        env = os.environ | {"SPEED_OUT": str(out), "SPEED_PRECISION": precision}
        if what == "lora":
            env["SPEED_KEEP"] = "1"
        subprocess.run([program, model, str(threads), what.split("-")[0], str(batch), str(length)], env=env, check=True)
        return json.loads(out.read_text())


def pytorch(dtype, model, threads, what, batch, length):
    script = Path(__file__).with_name("speed_torch.py")
    env = os.environ | {"OMP_NUM_THREADS": str(threads), "SPEED_DTYPE": dtype}
    done = subprocess.run([sys.executable, script, model, str(threads), what, str(batch), str(length)], env=env, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def busy():
    """CPU seconds that the whole machine has spent, and those of our children."""
    ticks = [int(field) for field in open("/proc/stat").readline().split()[1:9]]
    ours = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK"), ours.ru_utime + ours.ru_stime


def measured(side, tries):
    """The quietest of a few tries, with the share of the CPUs that others had meanwhile."""
    taken = []
    for _ in range(tries):
        (all_before, ours_before), start = busy(), time.monotonic()
        found = side()
        (all_after, ours_after), wall = busy(), time.monotonic() - start
        others = (all_after - all_before) - (ours_after - ours_before)
        taken.append(found | dict(company=max(0.0, others / wall / os.cpu_count())))
        if taken[-1]["company"] < QUIET:
            break
    return min(taken, key=lambda one: one["company"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tries", type=int, default=3, help="of one measurement, until one is quiet")
    parser.add_argument("--cases", default=",".join(sorted({case[0] for case in CASES})), help="such as decode or decode-16")
    parser.add_argument("--sides", default="engine:f32,pytorch:float32")
    arguments = parser.parse_args()
    asked, names = arguments.cases.split(","), arguments.sides.split(",")
    heads = ["what"] + [f"{name} tok/s" for name in names] + [f"to {name}" for name in names[1:]] + [f"{name} MiB" for name in names] + ["company"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for case in [case for case in CASES if case[0] in asked or f"{case[0]}-{case[1]}" in asked]:
        def side(name):
            kind, how = name.split(":")
            if kind == "engine":
                return engine(arguments.program, how, arguments.model, arguments.threads, *case)
            return pytorch(how, arguments.model, arguments.threads, *case)

        rounds = []
        for nth in range(arguments.rounds):
            order = names if nth % 2 == 0 else names[::-1]
            rounds.append({name: measured(lambda: side(name), arguments.tries) for name in order})
        speed = [f"{median(one[name]['tokens_per_second'] for one in rounds):.0f}" for name in names]
        ratios = [f"{median(one[names[0]]['tokens_per_second'] / one[name]['tokens_per_second'] for one in rounds):.2f} x" for name in names[1:]]
        peak = [f"{median(one[name]['peak_mib'] for one in rounds):.0f}" for name in names]
        company = max(one["company"] for found in rounds for one in found.values())
        print(f"| {case[0]} {case[1]} x {case[2]} | {' | '.join(speed + ratios + peak)} | {company:.0%} |", flush=True)


if __name__ == "__main__":
    main()
