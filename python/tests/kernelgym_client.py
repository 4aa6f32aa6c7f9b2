"""KernelGYM's own client asks a service that judges modules. A test starts it, because the service needs a GPU or the
emulator of one: `kernelgym_client.py CHECKOUT URL FOLDER`, where FOLDER holds problems and answers.

The checkout is read as it is. It needs ray and httpx.
"""

import asyncio
import importlib.util
import json
import sys
import types
from pathlib import Path
from types import SimpleNamespace

import ray


def verl_as_the_client_knows_it():
    """The client takes its rate limiter from a module that verl has removed. This limiter admits everybody."""

    @ray.remote
    class Everybody:
        def __init__(self, most):
            self.most = most

        def acquire(self):
            return True

        def release(self):
            return None

        def get_current_count(self):
            return 0

    for name in ("verl", "verl.tools", "verl.tools.sandbox_fusion_tools"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["verl.tools.sandbox_fusion_tools"].TokenBucketWorker = Everybody


def client_of(checkout):
    path = Path(checkout) / "drkernel/kernel/rewards/reward_client.py"
    spec = importlib.util.spec_from_file_location("reward_client", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["reward_client"] = module
    spec.loader.exec_module(module)
    # ray's processes cannot import it.
    ray.cloudpickle.register_pickle_by_value(module)
    return module.KernelRewardClient


class Penalties(dict):
    penalty_score = -1.0


def config(url):
    """The keys of the trainer's configuration, with its rewards."""
    return SimpleNamespace(
        server_url=url, timeout=600, task_timeout=600, task_timeout_in_client=900, max_retries=3,
        rate_limit=4, max_concurrent=4, acquire_timeout=60,
        reward_func_name="calculate_reward_speedup", init_correct_weight=0.5, init_performance_weight=0.5,
        speedup_eps=0.01, speedup_reward_upper_bound=3.0, speedup_reward_lower_bound=0.0,
        reward_policy=SimpleNamespace(penalties=Penalties()),
        coverage_reward=SimpleNamespace(enable=True, weight=0.25, reward_type="time_coverage"),
    )  # fmt: skip


def main():
    checkout, url, folder = sys.argv[1:]
    folder = Path(folder)
    problem = (folder / "problems/scaled.py").read_text()
    names = ["one-kernel", "half-of-it", "torch-does-it"]
    answers = [(folder / f"judged/{name}.py").read_text() for name in names]
    tasks = [{"reference_code": problem, "kernel_code": answer, "entry_point": "Model"} for answer in answers]
    tasks.append({**tasks[0], "reference_code": "class Model: pass"})
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    verl_as_the_client_knows_it()
    client = client_of(checkout)(reward_config=config(url))
    right, wrong, refused, strange = asyncio.run(client.compute_batch_rewards(tasks))
    told = {name: one for name, one in zip([*names, "strange"], [right, wrong, refused, strange])}
    print(json.dumps(told, indent=1, default=str))
    assert [one["status"] for one in (right, wrong, refused)] == ["completed"] * 3
    assert right["success"] and right["correctness"]
    # On the emulator a speed may be suspect, and then it counts as none.
    speed = min(right["speedup"], 3.0)
    covered = 0.25 if right["metadata"]["verdict"] == "correct" else 0.0
    assert abs(right["reward"] - (0.5 + 0.5 * speed + covered)) < 1e-9
    assert wrong["compiled"] and not wrong["correctness"] and wrong["reward"] == 0.0
    assert not refused["compiled"] and refused["reward"] == 0.0 and "torch" in refused["error_message"]
    assert strange["status"] == "failed" and strange["reward"] == -1.0
    assert "is not a problem that this service judges" in strange["error"], strange
    ray.shutdown()


if __name__ == "__main__":
    main()
