"""Mixed precision changes what torch computes, and nothing of an answer's own."""

import torch


class autocast(torch.no_grad):
    """A context that changes nothing."""


def custom_fwd(function=None, **named):
    return custom_fwd if function is None else function


custom_bwd = custom_fwd
