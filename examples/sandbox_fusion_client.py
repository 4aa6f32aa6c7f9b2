"""A client of SandboxFusion judges C by hotloop: the code runs in hotloop's sandbox, and the verdict is its output.

    pip install sandbox-fusion
    python examples/sandbox_fusion_client.py my.c --task matmul
"""

import argparse
import contextlib
import json
import os
import subprocess
import time

import sandbox_fusion


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
    asked.add_argument("file", nargs="+", help="C sources, or answers of a model with code in them")
    asked.add_argument("--task", default="matmul")
    given = asked.parse_args()
    with service(given.task) as address:
        for name in given.file:
            with open(name, encoding="utf-8") as file:
                code = file.read()
            began = time.monotonic()
            request = sandbox_fusion.RunCodeRequest(code=code, language="cpp", stdin=given.task, run_timeout=60)
            answer = sandbox_fusion.run_code(request, endpoint=address, client_timeout=300)
            verdict = answer.run_result.stdout.strip() if answer.run_result else answer.message
            print(f"{name}: {answer.status.value}, {verdict}, after {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
