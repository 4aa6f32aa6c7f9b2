"""verl: `reward.custom_reward_function.path=.../hotloop/verl.py`, `.name=compute_score`.

The task is `ground_truth`, or `task` in `extra_info` or in `+...reward_kwargs.task=`. verl knows numbers only:
a verdict that is too good to be believed is worth what the task's seed is, and a machine that fails
for longer than the client's patience raises `MachineFailure`, which stops verl rather than punish an answer.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional

from hotloop.client import Client

_clients: dict[Any, Client] = {}


async def compute_score(
    data_source: Any,
    solution_str: str,
    ground_truth: Any,
    extra_info: Optional[Mapping[str, Any]] = None,
    task: Optional[str] = None,
    shape: Any = None,
    url: Optional[str] = None,
    **_: Any,
) -> dict[str, float]:
    """The reward of one answer."""
    if url not in _clients:
        _clients[url] = Client(url)
    info = extra_info or {}
    label = {key: info.get(key) for key in ("stage", "prompt_id")}
    named = task or info.get("task") or (ground_truth if isinstance(ground_truth, str) else None)
    label.update(task=named, reward=shape, object=True)
    told = await _clients[url].arequest("/rm", {"response": solution_str, "label": label})
    correct = float(told["verdict"] == "correct")
    return {"score": told["reward"], "correct": correct, "gflops": told["gflops"] or 0.0}
