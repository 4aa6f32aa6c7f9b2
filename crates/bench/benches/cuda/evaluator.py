"""Judges answers by KernelBench's own evaluator: `evaluator.py CHECKOUT`, jobs as JSON lines on standard input.

A job has the problem, the answer, and how many runs are verified and timed. Each reply is a line with the
seconds of the call. Modules that the evaluator imports and does not need here may be missing.
"""

import importlib
import json
import sys
import tempfile
import time
from pathlib import Path
from unittest.mock import MagicMock

for name in ("dotenv", "litellm", "openai", "requests", "tqdm"):
    try:
        importlib.import_module(name)
    except ImportError:
        sys.modules[name] = MagicMock()
try:
    import pydantic  # noqa: F401
except ImportError:

    class Record:
        def __init__(self, **fields):
            self.__dict__.update(fields)

    sys.modules["pydantic"] = MagicMock(BaseModel=Record)

sys.path.insert(0, str(Path(sys.argv[1]) / "src"))
import torch  # noqa: E402
from kernelbench.eval import eval_kernel_against_ref  # noqa: E402

for line in sys.stdin:
    job = json.loads(line)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        found = eval_kernel_against_ref(
            job["problem"],
            job["answer"],
            num_correct_trials=job["verified"],
            num_perf_trials=job["timed"],
            measure_performance=True,
            build_dir=folder,
            device=torch.device("cuda:0"),
        )
        seconds = time.perf_counter() - begin
    reply = {"seconds": seconds, "correct": getattr(found, "correctness", None), "runtime_ms": getattr(found, "runtime", None)}
    print(json.dumps(reply), flush=True)
