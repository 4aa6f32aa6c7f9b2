"""verifiers (v1): a taskset whose tasks are hotloop's, and whose reward is the bench's.

A machine's failure is raised as `SandboxError`, which verifiers keeps out of training.
"""

from __future__ import annotations

from typing import Iterable

import verifiers.v1 as vf

from hotloop.client import Client


class HotloopData(vf.TaskData):
    """Which task is asked."""

    task: str


class HotloopTask(vf.Task[HotloopData]):
    """One task; the answer's code is judged."""

    @vf.reward(weight=1.0)
    async def speed(self, trace: vf.Trace) -> float:
        [judged] = await Client().ajudge([{"completion": trace.last_reply}], task=self.data.task)
        if judged.reward is None:
            raise vf.SandboxError(judged.error or f"the verdict is {judged.verdict}, which is masked")
        return judged.reward


class HotloopTaskset(vf.Taskset[HotloopTask, vf.TasksetConfig]):
    """All tasks of the service."""

    def load(self) -> Iterable[HotloopTask]:
        client = Client()
        for one in client.tasks():
            prompt = client.task(one["name"])["prompt"]
            yield HotloopTask(HotloopData(name=one["name"], task=one["name"], prompt=prompt), self.config.task)
