"""An OpenEnv environment whose reward is measured speed: an agent hands in C and sees verdict, speed and reward.

    pip install openenv-core
    python examples/openenv_client.py my.c --task matmul
"""

import argparse
import contextlib
import json
import os
import subprocess

from openenv.core.generic_client import GenericEnvClient


@contextlib.contextmanager
def service(task):
    """`hotloop serve` on a free port, and its address."""
    program = os.environ.get("HOTLOOP_BIN", "hotloop")
    command = [program, "serve", "--bind", "127.0.0.1:0", "--task", task, "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(process.stdout.readline())["address"]
    finally:
        process.terminate()
        process.wait()


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("file", nargs="+", help="C sources, one for each step of the episode")
    asked.add_argument("--task", default="matmul")
    given = asked.parse_args()
    with service(given.task) as address:
        # A step takes as long as judging does.
        with GenericEnvClient(base_url=address.replace("http://", "ws://")).sync() as env:
            begun = env.reset(task=given.task)
            print(begun.observation["prompt"].strip().splitlines()[0])
            for name in given.file:
                with open(name, encoding="utf-8") as file:
                    seen = env.step({"code": file.read()})
                print(f"{name}: {seen.observation['verdict']}, reward {seen.reward}")
            print(f"steps: {env.state()['step_count']}")


if __name__ == "__main__":
    main()
