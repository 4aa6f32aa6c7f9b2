"""ms-swift: `swift rlhf --rlhf_type grpo --external_plugins .../hotloop/swift.py --reward_funcs hotloop`.

Columns `task`, `stage` and `prompt_id` of the data set say what each answer is for; HOTLOOP_TASK is
the task of rows without one.
"""

from __future__ import annotations

import os
from typing import Any, Optional

from swift.rewards import AsyncORM, orms

from hotloop.client import Client


class HotloopReward(AsyncORM):
    """The reward of each answer; None where the machine failed."""

    def __init__(self, args: Any = None, **kwargs: Any):
        super().__init__(args, **kwargs)
        self.client = Client()

    async def __call__(self, completions: list[str], **columns: Any) -> list[Optional[float]]:
        keys = [key for key in ("task", "stage", "prompt_id") if columns.get(key)]
        rows = [{"completion": one, **{key: columns[key][at] for key in keys}} for at, one in enumerate(completions)]
        judged = await self.client.ajudge(rows, task=os.environ.get("HOTLOOP_TASK"))
        return [one.reward for one in judged]


orms["hotloop"] = HotloopReward
