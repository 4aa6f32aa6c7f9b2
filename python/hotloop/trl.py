"""TRL: `GRPOTrainer(reward_funcs=[hotloop.trl.reward("matmul")], ...)`.

Columns `task`, `stage` and `prompt_id` of the data set, where it has them, say what each answer is for.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Optional

from .client import Client


def text(completion: Any) -> str:
    """The answer's text, plain or as the last message of a conversation."""
    return completion if isinstance(completion, str) else completion[-1]["content"] if completion else ""


def reward(task: Optional[str] = None, shape: Any = None, client: Optional[Client] = None) -> Callable[..., Any]:
    """A reward function for `task`; None where the machine failed."""
    client = client or Client()

    async def hotloop(prompts: Any, completions: Any, log_metric: Any = None, **columns: Any) -> list[Optional[float]]:
        columns["group"] = [str(prompts.index(prompt)) for prompt in prompts]
        keys = [key for key in ("task", "stage", "prompt_id", "group") if key in columns]
        rows = [{"completion": text(one), **{key: columns[key][at] for key in keys}} for at, one in enumerate(completions)]
        judged = await client.ajudge(rows, task=task, reward=shape)
        if log_metric and judged:
            log_metric("hotloop/correct", sum(one.verdict == "correct" for one in judged) / len(judged))
            log_metric("hotloop/gflops", max(one.gflops or 0.0 for one in judged))
        return [one.reward for one in judged]

    return hotloop


def prompts(run: str, task: str, client: Optional[Client] = None) -> Iterator[dict[str, Any]]:
    """Rows of the staged search without end, for `datasets.IterableDataset.from_generator`."""
    client = client or Client()
    while True:
        for one in client.prompts(run, 8, task):
            yield {"prompt": list(one.messages), "prompt_id": one.prompt_id}
