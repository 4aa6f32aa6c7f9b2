"""The engine and PyTorch side by side on this CPU, one after the other, each in a process of its own.

    cargo build --release -p hotloop-policy --example speed
    python speed.py PATH/TO/speed MODEL.gguf [THREADS]

Every measurement is taken three times, alternating; the table shows the best of each. Wall time needs a
quiet machine; CPU seconds are shown beside it because they suffer less from company.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = [("decode", 1, 32), ("decode", 8, 32), ("decode", 32, 16), ("lora", 4, 512), ("lora-checkpoint", 4, 512)]


def engine(program, model, threads, what, batch, length):
    with tempfile.TemporaryDirectory() as work:
        out = Path(work) / "speed.json"
        env = os.environ | {"SPEED_OUT": str(out)}
        if what == "lora":
            env["SPEED_KEEP"] = "1"
        subprocess.run([program, model, str(threads), what.split("-")[0], str(batch), str(length)], env=env, check=True)
        return json.loads(out.read_text())


def pytorch(model, threads, what, batch, length):
    script = Path(__file__).with_name("speed_torch.py")
    env = os.environ | {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, script, model, str(threads), what, str(batch), str(length)], env=env, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def main(program, model, threads=2, rounds=3):
    print("| what | engine tok/s | torch tok/s | engine CPU s | torch CPU s | engine MiB | torch MiB |\n|---|---|---|---|---|---|---|")
    for case in CASES:
        pairs = [(engine(program, model, int(threads), *case), pytorch(model, int(threads), *case)) for _ in range(int(rounds))]
        ours, theirs = (max((pair[side] for pair in pairs), key=lambda m: m["tokens_per_second"]) for side in (0, 1))
        cpu = [min(pair[side]["cpu_seconds"] for pair in pairs) for side in (0, 1)]
        print(f"| {case[0]} {case[1]} x {case[2]} | {ours['tokens_per_second']:.0f} | {theirs['tokens_per_second']:.0f} "
              f"| {cpu[0]:.1f} | {cpu[1]:.1f} | {ours['peak_mib']} | {theirs['peak_mib']} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
