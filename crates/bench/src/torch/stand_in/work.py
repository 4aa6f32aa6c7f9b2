"""Whose code runs: a problem's, whose operations have shapes, or an answer's, which may not use them."""

import link

# "problem", "constructor" (an answer outside of `forward`) or "forward".
phase = "problem"


def is_problem():
    return phase == "problem"


def by_torch(name):
    """An operation that torch itself would compute: only problems may ask for it."""
    if phase != "problem":
        link.refuse(
            f"it does its work with torch: `{name}` computes; write that as a kernel of your own"
        )


def unknown(name):
    """A name that the stand-in does not have."""
    if phase == "problem":
        raise NotImplementedError(f"`{name}` is not known here")
    link.refuse(f"`{name}` is not among what an answer may use of torch")


def needs_numbers(name):
    """Something that looks at numbers."""
    if phase == "problem":
        raise NotImplementedError(f"`{name}` needs numbers, and there are only shapes here")
    link.refuse(
        f"`{name}` looks at the numbers of a tensor, and a plan is made without them; "
        "decide it in a kernel"
    )
