"""TRL's GRPOTrainer learns matmul from the speeds that hotloop measures, with the prompts of its staged search.

    pip install trl hotloop        # or ./python of a clone
    python examples/trl_grpo.py --model Qwen/Qwen2.5-Coder-0.5B-Instruct --steps 100
    hotloop watch runs             # the run as it goes on
"""

import argparse
import contextlib
import json
import os
import subprocess

from datasets import IterableDataset
from hotloop.trl import prompts, reward
from trl import GRPOConfig, GRPOTrainer


@contextlib.contextmanager
def service(task, runs):
    """`hotloop serve` on a free port. The reward functions find it by HOTLOOP_URL."""
    program = os.environ.get("HOTLOOP_BIN", "hotloop")
    command = [program, "serve", "--bind", "127.0.0.1:0", "--task", task, "--run-folder", runs, "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        os.environ["HOTLOOP_URL"] = json.loads(process.stdout.readline())["address"]
        yield
    finally:
        process.terminate()
        process.wait()


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--model", required=True, help="a folder or a name on the hub")
    asked.add_argument("--task", default="matmul")
    asked.add_argument("--steps", type=int, default=100)
    asked.add_argument("--group", type=int, default=8, help="answers to each prompt")
    asked.add_argument("--tokens", type=int, default=512, help="of an answer")
    asked.add_argument("--runs", default="runs", help="the folder of the search's run")
    asked.add_argument("--cpu", action="store_true", help="without a GPU")
    given = asked.parse_args()
    with service(given.task, given.runs):
        # The search decides what is asked next from what was judged, so its rows are drawn one at a time.
        rows = IterableDataset.from_generator(prompts, gen_kwargs={"run": "trl", "task": given.task})
        settings = GRPOConfig(
            output_dir=f"{given.runs}/trl-model", max_steps=given.steps, num_generations=given.group,
            per_device_train_batch_size=given.group, max_completion_length=given.tokens, learning_rate=1e-5,
            logging_steps=1, report_to=[], save_strategy="no", use_cpu=given.cpu, bf16=not given.cpu,
        )  # fmt: skip
        trainer = GRPOTrainer(model=given.model, reward_funcs=[reward(given.task)], args=settings, train_dataset=rows)
        trainer.train()
        print(f"{trainer.state.global_step} steps; `hotloop report {given.runs}/trl` shows the search")


if __name__ == "__main__":
    main()
