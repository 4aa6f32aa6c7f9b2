"""Runs problems of KernelBench by the user's own torch: what is right, and how long torch takes.

It is trusted, and runs problems only, never an answer to one. Each line that it is sent is a request, and
each line that it sends is the reply. A line may bring descriptors of memory that the examiner shares.
"""

import contextlib
import ctypes
import importlib.util
import json
import math
import os
import random
import signal
import socket
import statistics
import sys
import time

import torch
from draws import changed
from judged import Judged, Mapped

# A run is swept from the cache by so many bytes.
SWEPT = 256 << 20
# Runs of one side: at least so many, then until the seconds are spent.
LEAST, MOST, SPENT_S = 5, 50, 2.0


class Device:
    """Where problems run, and the clock there."""

    def __init__(self, wanted):
        if wanted == "auto":
            wanted = "cuda" if torch.cuda.is_available() else "cpu"
        if wanted == "cuda" and not torch.cuda.is_available():
            raise RuntimeError("this torch sees no GPU")
        self.name = wanted
        self.is_gpu = wanted == "cuda"
        # TF32 keeps 10 of the 23 bits of a float.
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        self.swept = torch.empty(SWEPT, dtype=torch.int8, device=wanted) if self.is_gpu else None

    def facts(self):
        return {
            "torch": torch.__version__,
            "device": self.name,
            "hardware": torch.cuda.get_device_name() if self.is_gpu else "CPU",
            "threads": None if self.is_gpu else torch.get_num_threads(),
            "tf32": False,
        }

    def wait(self):
        if self.is_gpu:
            torch.cuda.synchronize()

    def clock(self, work):
        """Seconds of one run that finds none of its data in the cache of a GPU."""
        if not self.is_gpu:
            begin = time.perf_counter()
            work()
            return time.perf_counter() - begin
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.swept.zero_()
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) * 1e-3

    def forget(self):
        if self.is_gpu:
            torch.cuda.empty_cache()


@contextlib.contextmanager
def centred():
    """Numbers from -1 to 1 where a problem draws from 0 to 1: there, reduced precision shows."""
    plain = torch.rand

    def rand(*shape, **options):
        return plain(*shape, **options) * 2 - 1

    torch.rand = rand
    try:
        yield
    finally:
        torch.rand = plain


def loaded(source):
    """The module of a problem. It lies in a file, because compilers of Python code read it there."""
    with open("problem.py", "w", encoding="utf-8") as file:
        file.write(source)
    spec = importlib.util.spec_from_file_location("problem", os.path.abspath("problem.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seeded(seed):
    """Whatever a problem draws by follows from a number."""
    torch.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % (1 << 32))


def is_float(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def moved(value, device=None, dtype=None):
    """A value with its tensors moved; only numbers with a point change their type."""
    if isinstance(value, torch.Tensor):
        changed = dtype if value.is_floating_point() else None
        return value.to(device=device, dtype=changed)
    if isinstance(value, (list, tuple)):
        return type(value)(moved(one, device, dtype) for one in value)
    if isinstance(value, dict):
        return {key: moved(one, device, dtype) for key, one in value.items()}
    return value


def redraw(model):
    """Draws what the constructor set to one number: ones and zeros would hide what ignores them."""
    for tensor in model.state_dict().values():
        if tensor.is_floating_point() and tensor.numel() and bool((tensor == tensor.flatten()[0]).all()):
            tensor.add_(torch.rand_like(tensor) - 0.5)


class Problem:
    """A problem with its module and one set of inputs."""

    def __init__(self, source, device, seed):
        seeded(seed)
        self.device = device.name
        self.module = loaded(source)
        self.make(seed)
        with torch.device(device.name):
            self.inputs = self.drawn()

    def make(self, seed):
        """Makes the module anew, with parameters of its own."""
        seeded(seed)
        self.model = None
        with torch.device(self.device):
            # As KernelBench does it: the module is in the mode that it is made in.
            self.model = self.module.Model(*self.module.get_init_inputs()).to(self.device)
            redraw(self.model)

    def drawn(self):
        with centred():
            return moved(self.module.get_inputs(), self.device)

    def draw(self, seed, change):
        """Fresh inputs: as the problem draws them, or with tensors of floats changed."""
        seeded(seed)
        with torch.device(self.device):
            inputs = self.drawn()
            return [changed(one, change) if change and is_float(one) else one for one in inputs]

    def outputs(self, model, inputs):
        out = model(*inputs)
        return list(out) if isinstance(out, (list, tuple)) else [out]


def times(device, work):
    """How long one side takes: the first run warms up."""
    device.clock(work)
    runs, begin = [], time.monotonic()
    while len(runs) < MOST and (len(runs) < LEAST or time.monotonic() - begin < SPENT_S):
        runs.append(device.clock(work))
    mean = statistics.fmean(runs)
    return {
        "median_s": statistics.median(runs),
        "min_s": min(runs),
        "cv": statistics.pstdev(runs) / mean if mean else 0.0,
        "runs": len(runs),
    }


def error_of(got, want):
    """The worst difference, in parts of the largest right number."""
    worst = 0.0
    for one, right in zip(got, want, strict=True):
        if not one.is_floating_point():
            continue
        scale = right.abs().max().item()
        off = (one.double() - right).abs().max().item()
        worst = max(worst, off / scale if scale else off)
    return worst if math.isfinite(worst) else None


def reference(problem):
    """The right results: everything in doubles."""
    inputs = moved(problem.inputs, dtype=torch.float64)
    problem.model.double()
    try:
        return problem.outputs(problem.model, inputs)
    finally:
        problem.model.float()


def short(error):
    """The first line of what went wrong."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__


def attempt(work):
    """What comes of a part of a measurement; why, if nothing does."""
    try:
        return work()
    except Exception as error:  # A problem is the user's code: whatever it raises is told.
        return {"why": short(error)}


def measure(device, asked):
    """Times a problem in eager mode and compiled, and says how far eager is from doubles."""
    try:
        with torch.no_grad():
            problem = Problem(asked["source"], device, asked["seed"])
            eager = attempt(lambda: times(device, lambda: problem.model(*problem.inputs)))
            compiled = None
            if asked["compiled"]:
                fast = torch.compile(problem.model)
                compiled = attempt(lambda: times(device, lambda: fast(*problem.inputs)))
                torch.compiler.reset()

            def precision():
                got = problem.outputs(problem.model, problem.inputs)
                return {"error": error_of(got, reference(problem))}

            return {"eager": eager, "compiled": compiled, "reference": attempt(precision)}
    finally:
        problem = fast = None
        device.forget()


class Line:
    """Requests and replies, and the descriptors that came with them."""

    def __init__(self, fd):
        self.socket = socket.socket(fileno=fd)
        self.heard, self.descriptors = b"", []

    def requests(self):
        while True:
            while b"\n" not in self.heard:
                part, descriptors, _, _ = socket.recv_fds(self.socket, 1 << 16, 4)
                self.descriptors += descriptors
                if not part:
                    return
                self.heard += part
            line, self.heard = self.heard.split(b"\n", 1)
            yield json.loads(line)

    def reply(self, reply):
        self.socket.sendall(json.dumps(reply).encode() + b"\n")


class Worker:
    """What is kept from one request to the next."""

    def __init__(self, line):
        self.line = line
        self.device = self.judged = None
        self.shared = []

    def open(self, wanted):
        self.device = Device(wanted)
        return self.device.facts()

    def measure(self, asked):
        self.judged = None
        return measure(self.device, asked)

    def problem(self, asked):
        """Loads the problem that the next answers are for."""
        self.judged = None
        self.judged = Judged(Problem(asked["source"], self.device, asked["seed"]), moved)
        return self.judged.known(asked["seed"], asked["determined"])

    def share(self, sizes):
        """Maps the memory of inputs, and that of what is right."""
        self.release(None)
        fds, self.line.descriptors = self.line.descriptors, []
        for fd, size in zip(fds, sizes, strict=True):
            self.shared.append(Mapped(fd, size, self.device.is_gpu))
        return {"shared": None}

    def release(self, _):
        if self.judged is not None:
            self.judged.forget()
        for mapped in self.shared:
            mapped.release()
        self.shared = []
        return {"released": None}

    def fill(self, asked):
        return self.judged.fill(asked, self.shared[0])

    def right(self, asked):
        return self.judged.right(asked, *self.shared)

    def answer(self, request):
        [(name, asked)] = request.items()
        work = {
            one.__name__: one
            for one in (self.open, self.measure, self.problem, self.share, self.release, self.fill, self.right)
        }[name]
        with torch.no_grad():
            reply = work(asked)
        # Whoever reads the memory next is another process, and needs room.
        self.device.wait()
        self.device.forget()
        return reply


# Of prctl.
SIGNAL_AT_PARENTS_DEATH = 1


def main():
    # Whoever is killed in the middle of a request leaves nobody who computes for it.
    ctypes.CDLL(None).prctl(SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL)
    line = Line(0)
    worker = Worker(line)
    for request in line.requests():
        try:
            reply = worker.answer(request)
        except Exception as error:  # As above: the user reads it.
            reply = {"why": short(error)}
        line.reply(reply)


if __name__ == "__main__":
    sys.exit(main())
