"""The jailed interpreter's program: reads a problem, or runs an answer on shapes.

The first frame says what to do. Everything that this program says is data that the bench checks.
"""

import ast
import traceback
import linecache

import link
import screen
import sealed
import surroundings
import work
import torch
from torch import nn
from torch._tensor import Tensor, wire


def lines_of(error, name):
    """An exception in a sentence, with the line of the text that it left."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == name]
    where = f"line {frames[-1].lineno}: " if frames else ""
    return f"{where}{type(error).__name__}: {error}"[:2000]


def load(text, name):
    """The names of a text that has run."""
    found = surroundings.surroundings(name)
    exec(compile(text, name, "exec", dont_inherit=True), found)
    return found


def tensors(value):
    """The tensors in what a function returned."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in tensors(part)]
    return []


def problem_facts(found):
    """Inputs, parameters and output of a problem, as shapes."""
    inputs = found["get_inputs"]()
    arguments = found["get_init_inputs"]()
    model = construct(found["Model"], arguments)
    facts = {
        "inputs": [described(at, one) for at, one in enumerate(inputs)],
        "parameters": [[name, *shape_of(one)] for name, one in model.state_dict().items()],
        "outputs": None,
        "unknown": None,
    }
    try:
        facts["outputs"] = [shape_of(one) for one in tensors(model(*inputs))]
    except Exception as error:
        facts["unknown"] = lines_of(error, "problem")
    return facts


def construct(of, arguments):
    if isinstance(arguments, dict):
        return of(**arguments)
    if len(arguments) == 2 and isinstance(arguments[0], list) and isinstance(arguments[1], dict):
        return of(*arguments[0], **arguments[1])
    return of(*arguments)


def shape_of(tensor):
    return [str(tensor.dtype).removeprefix("torch."), list(tensor.shape)]


def constant(tensor):
    """The bytes that repeat through a parameter; nothing where its numbers are drawn."""
    fill = tensor._storage.fill
    return None if fill is None or tensor._storage.given else fill.hex()


def described(at, value):
    """An input: a tensor's shape, or the kind of a value that is passed as it is."""
    if isinstance(value, Tensor):
        if not value.is_contiguous():
            raise NotImplementedError(
                f"input {at} has the strides {list(value.stride())}; plans know inputs whose elements "
                "lie in order, so take the view in `forward`"
            )
        return {"tensor": shape_of(value)}
    if held(value):
        raise NotImplementedError(
            f"input {at} is a {type(value).__name__} that holds tensors; plans know inputs that are "
            "tensors themselves"
        )
    return {"value": repr(value)[:200]}


def held(value):
    """Whether tensors lie in a value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, set)):
        return any(isinstance(one, Tensor) or held(one) for one in value)
    return False


def read_problem(task):
    try:
        link.end(facts=problem_facts(load(task["problem"], "problem")))
    except Exception as error:
        link.end(failed=lines_of(error, "problem"))


def answer_names(text):
    """The names of an answer that has run up to its end."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        link.end(malformed=f"line {line}: {error}" if line else str(error))
    why = screen.fault(tree)
    if why:
        link.refuse(why)
    defined = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    if "ModelNew" not in defined:
        link.end(malformed="the answer defines no class `ModelNew`")
    return load(text, "answer")


def check_model(of):
    """ModelNew must be a module with a `forward` of its own."""
    if not (isinstance(of, type) and issubclass(of, nn.Module)):
        link.end(malformed="`ModelNew` is no subclass of torch.nn.Module")
    inherited = [one for one in of.mro()[1:] if "forward" in vars(one)]
    if "forward" not in vars(of):
        whose = inherited[0].__name__ if inherited else None
        if whose and whose != "Module":
            link.refuse(f"`ModelNew` inherits its `forward` from `{whose}`")
        link.end(malformed="`ModelNew` defines no `forward`")


def run_answer(task):
    """Constructs `ModelNew`, calls it once on shapes, and tells what it returned."""
    problem = load(task["problem"], "problem")
    inputs = list(problem["get_inputs"]())
    arguments = problem["get_init_inputs"]()
    torch._start_answer()
    found = answer_names(task["answer"])
    of = found.get("ModelNew")
    check_model(of)
    model = construct(of, arguments)
    if not isinstance(model, of):
        link.end(malformed="calling `ModelNew` does not give one")
    model.cuda()
    known = {}
    for name, value in model.state_dict().items():
        # What has two names is one parameter.
        known.setdefault(id(value._storage), (name, value))
    given = link.ask(model=[[name, *shape_of(one), constant(one)] for name, one in known.values()])
    for (_, value), (storage, is_own) in zip(known.values(), given["parameters"]):
        value._place(storage, is_own)
    inputs = [one.cuda() if isinstance(one, Tensor) else one for one in inputs]
    for value, storage in zip(tensors(inputs), given["inputs"]):
        value._place(storage)
    work.phase = "forward"
    output = model(*inputs)
    if not isinstance(output, (Tensor, list, tuple)):
        link.refuse(f"`forward` returns {type(output).__name__} and no tensor")
    link.end(output=[wire(one) for one in tensors(output)])


def play():
    task = link.ask(ready=True)
    if "answer" not in task:
        read_problem(task)
    linecache.getlines = lambda *rest, **named: []
    try:
        run_answer(task)
    except RecursionError:
        link.end(crashed="RecursionError: it calls itself without an end")
    except MemoryError:
        link.end(crashed="MemoryError: it needs more memory than the jail gives")
    except (PermissionError, ImportError) as error:
        link.refuse(f"the jail does not allow it: {lines_of(error, 'answer')}")
    except SystemExit:
        link.end(crashed="it ends the interpreter")
    except BaseException as error:
        link.end(crashed=lines_of(error, "answer"))


if __name__ == "__main__":
    sealed.seal()
    play()
