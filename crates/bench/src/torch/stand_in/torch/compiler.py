"""Words that keep a function from being compiled, which nothing here does."""


def disable(function=None, recursive=True, **named):
    return disable if function is None else function


def allow_in_graph(function):
    return function


def is_compiling():
    return False


is_dynamo_compiling = is_compiling
