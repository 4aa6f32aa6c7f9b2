"""Prompts of a task as JSON lines, for trainers that read their prompts from a file.

    pip install hotloop            # or ./python of a clone
    python examples/prompt_rows.py --task matmul --for verl >prompts.jsonl

Each row names its task, so that the reward finds it. The wordings differ, as in the first paper's eight prompts.
"""

import argparse
import json
import os
import subprocess

from hotloop.client import Client

WORDINGS = [
    "Write the fastest correct version that you can.",
    "Optimise for the CPU's caches, vectors and cores.",
    "Use blocking, vector instructions, threads and prefetching where they help.",
    "Think of memory traffic first, then of arithmetic.",
    "Start from the plain loops and make them as fast as this machine allows.",
    "Give a complete function and nothing else.",
    "Every element is checked, and every run is timed.",
    "Aim at the machine's peak.",
]


def served_task(name):
    """The task as `hotloop serve` tells it, from a service of our own."""
    program = os.environ.get("HOTLOOP_BIN", "hotloop")
    command = [program, "serve", "--bind", "127.0.0.1:0", "--task", name, "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        return Client(json.loads(process.stdout.readline())["address"]).task(name)
    finally:
        process.terminate()
        process.wait()


def row(name, prompt, trainer):
    chat = [{"role": "user", "content": prompt}]
    if trainer == "verl":
        truth = {"style": "rule", "ground_truth": name}
        return {"data_source": "hotloop", "prompt": chat, "reward_model": truth, "extra_info": {"task": name}}
    return {"prompt": chat, "label": json.dumps({"task": name})}


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--task", default="matmul")
    asked.add_argument("--for", dest="trainer", choices=["verl", "openrlhf"], required=True)
    given = asked.parse_args()
    task = served_task(given.task)
    for wording in WORDINGS:
        print(json.dumps(row(given.task, f"{task['prompt'].strip()}\n\n{wording}", given.trainer)))


if __name__ == "__main__":
    main()
