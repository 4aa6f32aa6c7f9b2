"""Words that keep a function as it is."""


def ignore(function=None, **named):
    return ignore if function is None else function


unused = export = ignore


def is_scripting():
    return False


is_tracing = is_scripting


class Final:
    """A name of a type, as `Final[int]`."""

    def __class_getitem__(cls, of):
        return of
