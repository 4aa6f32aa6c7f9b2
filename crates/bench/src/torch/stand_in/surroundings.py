"""What the code of problems and answers finds around it: builtins without doors, and modules by list."""

import builtins
import importlib
import types

import link
import screen
import work

# Modules of Python that compute and reach nothing.
HARMLESS = {
    "__future__", "abc", "bisect", "cmath", "collections", "collections.abc", "contextlib", "copy",
    "dataclasses", "enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "math", "numbers",
    "operator", "re", "string", "struct", "textwrap", "typing", "warnings",
}
# Names that harmless modules have and that reach further.
DOORS = {"sys", "os", "catch_warnings", "attrgetter", "methodcaller", "file_digest"}
# Modules that answers import and seldom use: an import gives an empty one, and its use is refused.
IDLE = {
    "argparse": "nobody gives it arguments",
    "datetime": "there is no clock",
    "glob": "files are closed to it",
    "logging": "nobody reads what it writes",
    "numpy": "numbers on the host have no place in a plan",
    "os": "files, processes and the environment are closed to it",
    "pathlib": "files are closed to it",
    "platform": "the machine is closed to it",
    "random": "a plan does not depend on chance",
    "shutil": "files are closed to it",
    "sys": "the interpreter is closed to it",
    "tempfile": "files are closed to it",
    "time": "there is no clock",
    "timeit": "there is no clock",
    "traceback": "the interpreter is closed to it",
    "uuid": "a plan does not depend on chance",
}
REASONS = {
    "subprocess": "it starts no processes",
    "ctypes": "it reaches past Python",
    "cupy": "another library would do the work",
    "triton": "only CUDA by load_inline can be planned",
    "gc": "it looks for objects that are not its own",
    "inspect": "it looks at its caller",
    "threading": "a plan is made by one thread",
    "multiprocessing": "it starts no processes",
}

_views = {}


def view(name):
    """A harmless module's own public names, without the modules that it uses."""
    if name not in _views:
        real = importlib.import_module(name)
        names = getattr(real, "__all__", None) or [one for one in dir(real) if one[0] != "_"]
        seen = types.ModuleType(name)
        for one in names:
            value = getattr(real, one, None)
            if one not in DOORS and not isinstance(value, types.ModuleType):
                setattr(seen, one, value)
        _views[name] = seen
        if "." in name:
            above, _, last = name.rpartition(".")
            setattr(view(above), last, seen)
    return _views[name]


class Idle(types.ModuleType):
    """A module that is imported and has nothing to use."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        link.refuse(f"it uses `{self.__name__}.{name}`: {IDLE[self.__name__]}")


class _Silent:
    """What nobody reads: each of its names, and each call, gives itself."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *values, **named):
        return self


class _Name:
    """A name that is always the same."""

    hex = "0" * 32

    def __str__(self):
        return self.hex


def idle(name):
    """An idle module, once."""
    if name not in _views:
        _views[name] = Idle(name)
        if name == "os":
            # Settings of the compiler, which nobody reads.
            _views[name].environ = {}
            _views[name].getenv = lambda key, default=None: _views[name].environ.get(key, default)
        if name == "logging":
            _views[name].getLogger = _views[name].basicConfig = _Silent()
        if name == "uuid":
            # Names of builds, which nobody else uses.
            _views[name].uuid4 = _views[name].uuid1 = _Name
    return _views[name]


def import_by_list(name, globals=None, locals=None, fromlist=(), level=0):
    """`import`, for what stands on a list."""
    top = name.split(".")[0]
    if level == 0 and top == "torch":
        module = importlib.import_module("torch")
        part = module
        for word in name.split(".")[1:]:
            part = getattr(part, word)
        if not fromlist:
            return module
        for one in fromlist:
            if one != "*":
                getattr(part, one)
        return part
    if level == 0 and name in HARMLESS:
        return view(name) if fromlist else view(top)
    if level == 0 and top in IDLE and not work.is_problem():
        if "." in name and fromlist:
            link.refuse(f"it imports `{name}`: {IDLE[top]}")
        return idle(top)
    if work.is_problem():
        raise ImportError(f"`{name}` cannot be imported here")
    reason = REASONS.get(top, "it is not on the list of what an answer may import")
    link.refuse(f"it imports `{name}`: {reason}")


class _Closed:
    """A builtin that is no more."""

    def __init__(self, name):
        self.name = name

    def __call__(self, *values, **named):
        link.refuse(f"it calls `{self.name}`, which reaches around the jail")


def _print(*values, **named):
    """Printing shows nothing, but what it shows may need numbers."""
    for value in values:
        str(value)


def _attribute(name):
    if isinstance(name, str) and name in screen.ATTRIBUTES:
        link.refuse(f"it asks for `{name}` of an object, which reaches into the interpreter")
    return name


def surroundings(name):
    """The names that a text starts with."""
    safe = {one: value for one, value in vars(builtins).items() if one[0] != "_"}
    for one in screen.CLOSED:
        safe[one] = _Closed(one)
    safe["__import__"] = import_by_list
    safe["__build_class__"] = builtins.__build_class__
    safe["__debug__"] = True
    safe["print"] = _print
    safe["getattr"] = lambda of, one, *rest: getattr(of, _attribute(one), *rest)
    safe["setattr"] = lambda of, one, value: setattr(of, _attribute(one), value)
    safe["hasattr"] = lambda of, one: hasattr(of, _attribute(one))
    return {"__name__": name, "__builtins__": safe, "__doc__": None}
