"""Rewards from hotloop's bench: a client of `hotloop serve`, and reward functions for trainers.

`hotloop.trl`, `hotloop.verl`, `hotloop.swift` and `hotloop.environment` (verifiers) import their
trainer only when they are imported themselves.
"""

from .client import Client, Judged, MachineFailure, Prompt, RequestError

__all__ = ["Client", "Judged", "MachineFailure", "Prompt", "RequestError"]
__version__ = "0.1.0"
