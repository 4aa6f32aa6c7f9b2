"""Reads an answer's text before it runs, for clear words on what cannot work in the jail anyway."""

import ast

# Names that nobody uses for anything else.
NAMES = {"__import__", "__builtins__", "__loader__", "__spec__"}
# Builtins that are closed; an answer may use their names for its own things.
CLOSED = {
    "eval", "exec", "compile", "open", "input", "breakpoint", "globals", "locals", "vars",
    "memoryview", "exit", "quit", "help",
}
ATTRIBUTES = {
    "__globals__", "__subclasses__", "__builtins__", "__code__", "__closure__", "__mro__",
    "__bases__", "__base__", "__loader__", "__spec__", "__import__", "__reduce__",
    "__reduce_ex__", "__getattribute__", "f_back", "f_globals", "f_locals", "f_builtins",
    "tb_frame", "gi_frame", "cr_frame", "ag_frame", "_getframe", "mro", "__self__",
    "__wrapped__",
}


def fault(tree):
    """The first thing in a text that an answer may not say, in a sentence."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in NAMES:
            return f"line {node.lineno}: `{node.id}` reaches around the jail"
        if isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES:
            return f"line {node.lineno}: `.{node.attr}` reaches into the interpreter"
        if isinstance(node, (ast.AsyncFunctionDef, ast.Await)):
            return f"line {node.lineno}: asynchronous code has nobody here to run it"
    return None
