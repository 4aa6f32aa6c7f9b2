"""The engine and PyTorch side by side on this CPU, one after the other, each in a process of its own.

    cargo build --release -p hotloop-policy --example speed
    hotloop model convert MODEL.gguf MODEL      (PyTorch would need as much memory again to read a GGUF file)
    python speed.py PATH/TO/speed MODEL [--threads 2] [--rounds 5]

Rounds alternate the sides, and every second round has them in the other order. The table shows medians, and the
median of the rounds' ratios, which suffers least from company on the machine. A measurement during which others
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

CASES = [("decode", 1, 64), ("decode", 8, 64), ("decode", 32, 32), ("lora", 4, 512), ("lora-checkpoint", 4, 512)]
QUIET = 0.10


def engine(program, model, threads, what, batch, length):
    with tempfile.TemporaryDirectory() as work:
        out = Path(work) / "speed.json"
        env = os.environ | {"SPEED_OUT": str(out)}
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
    parser.add_argument("--cases", default=",".join(sorted({case[0] for case in CASES})))
    parser.add_argument("--dtype", default="float32", help="PyTorch's: float32 as the engine, or bfloat16")
    arguments = parser.parse_args()
    print("| what | engine tok/s | PyTorch tok/s | engine is | engine MiB | PyTorch MiB | company |\n|---|---|---|---|---|---|---|")
    for case in [case for case in CASES if case[0] in arguments.cases.split(",")]:
        sides = [lambda: engine(arguments.program, arguments.model, arguments.threads, *case),
                 lambda: pytorch(arguments.dtype, arguments.model, arguments.threads, *case)]
        rounds = []
        for nth in range(arguments.rounds):
            order = (0, 1) if nth % 2 == 0 else (1, 0)
            found = {side: measured(sides[side], arguments.tries) for side in order}
            rounds.append((found[0], found[1]))
        speed = [median(pair[side]["tokens_per_second"] for pair in rounds) for side in (0, 1)]
        ratio = median(ours["tokens_per_second"] / theirs["tokens_per_second"] for ours, theirs in rounds)
        peak = [median(pair[side]["peak_mib"] for pair in rounds) for side in (0, 1)]
        company = max(one["company"] for pair in rounds for one in pair)
        print(f"| {case[0]} {case[1]} x {case[2]} | {speed[0]:.0f} | {speed[1]:.0f} | {ratio:.2f} x "
              f"| {peak[0]:.0f} | {peak[1]:.0f} | {company:.0%} |", flush=True)


if __name__ == "__main__":
    main()
