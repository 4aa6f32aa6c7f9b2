"""verl: `reward.custom_reward_function.path=.../hotloop/verl.py`, `.name=compute_score`.

The task is `ground_truth`, or `task` in `extra_info` or in `+...reward_kwargs.task=`. verl's own
metrics need the same keys in every row and know no None: a masked row has `masked` 1 and the reward of
`when_masked`, or raises without one, which verl's reward loop retries or drops.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional

from hotloop.client import Client, MachineFailure

_clients: dict[Any, Client] = {}


async def compute_score(
    data_source: Any,
    solution_str: str,
    ground_truth: Any,
    extra_info: Optional[Mapping[str, Any]] = None,
    task: Optional[str] = None,
    shape: Any = None,
    url: Optional[str] = None,
    when_masked: Optional[float] = None,
    **_: Any,
) -> dict[str, float]:
    """The reward of one answer."""
    client = _clients.setdefault(url, Client(url)) if url not in _clients else _clients[url]
    info = extra_info or {}
    row = {"completion": solution_str, "prompt_id": info.get("prompt_id"), "stage": info.get("stage")}
    named = task or info.get("task") or (ground_truth if isinstance(ground_truth, str) else None)
    [judged] = await client.ajudge([row], task=named, reward=shape)
    reward = when_masked if judged.reward is None else judged.reward
    if reward is None:
        raise MachineFailure(judged.error or f"the verdict is {judged.verdict}, which is masked")
    correct, masked = float(judged.verdict == "correct"), float(judged.reward is None)
    return {"score": reward, "correct": correct, "gflops": judged.gflops or 0.0, "masked": masked}
