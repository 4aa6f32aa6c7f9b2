"""Times answers to problems of KernelBench by plain events, as anyone would: `plain_events.py CHECKOUT ANSWER...`

An answer's name begins with its problem's number of level 1. Its real extension is built by torch, all answers at
once, and each run follows a sweep of the cache. Each line is an answer and its median in seconds. Answers that the
bench has not judged must not be run by this: nothing confines them.

With PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True torch takes its memory as the bench does.
"""

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SWEPT, RUNS = 256 << 20, 15


def module_of(path):
    spec = importlib.util.spec_from_file_location(path.stem.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seconds_of(problem, answer, torch, sweep):
    given, made = module_of(problem), module_of(answer)
    with torch.device("cuda"), torch.no_grad():
        model = made.ModelNew(*given.get_init_inputs()).to("cuda")
        inputs = [one.to("cuda") if isinstance(one, torch.Tensor) else one for one in given.get_inputs()]
        seen = []
        for _ in range(RUNS + 3):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            sweep.zero_()
            begin.record()
            model(*inputs)
            end.record()
            torch.cuda.synchronize()
            seen.append(begin.elapsed_time(end) * 1e-3)
    return statistics.median(seen[3:])


def main():
    checkout, answers = Path(sys.argv[1]), [Path(word) for word in sys.argv[2:]]
    if not answers:
        module_of(Path(os.environ["HOTLOOP_BUILDS"]))
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(TORCH_EXTENSIONS_DIR=folder, TORCH_CUDA_ARCH_LIST="9.0", MAX_JOBS="2")
        command = [sys.executable, __file__, str(checkout)]
        builds = [
            subprocess.Popen(command, env={**os.environ, "HOTLOOP_BUILDS": str(answer)}, stdout=subprocess.DEVNULL)
            for answer in answers
        ]
        for build in builds:
            build.wait()
        import torch

        sweep = torch.empty(SWEPT, dtype=torch.int8, device="cuda")
        for answer in answers:
            number = int(answer.name.split("-")[0])
            [problem] = checkout.glob(f"KernelBench/level1/{number}_*.py")
            try:
                print(json.dumps({"answer": answer.name, "seconds": seconds_of(problem, answer, torch, sweep)}), flush=True)
            except Exception as error:
                print(json.dumps({"answer": answer.name, "why": str(error)[:300]}), flush=True)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
