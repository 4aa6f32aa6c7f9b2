"""The service that the tests ask: the one at HOTLOOP_URL, or one that is started for them.

HOTLOOP_BIN names the program; the bench is the real one of this machine.
"""

import json
import os
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "a-token-for-the-tests"
SEED = (ROOT / "tasks/matmul/seed.c").read_text()


def program():
    named = os.environ.get("HOTLOOP_BIN")
    found = [named, str(ROOT / "target/debug/hotloop"), str(ROOT / "target/release/hotloop"), shutil.which("hotloop")]
    # Absolute, because tests start it in folders of their own.
    return next((os.path.abspath(path) for path in found if path and Path(path).is_file()), None)


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    """URL of a running service with the real bench."""
    binary = program()
    if binary is None:
        pytest.skip("no hotloop program: build it, or name it by HOTLOOP_BIN")
    folder = tmp_path_factory.mktemp("service")
    command = [binary, "serve", "--bind", "127.0.0.1:0", "--task", "matmul", "--json", "--rate", "2000"]
    command += ["--run-folder", str(folder / "runs"), "--set", "sampling.group=2", "--set", "search.parents=2"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "HOTLOOP_TOKEN": TOKEN}
    )
    try:
        url = json.loads(process.stdout.readline())["address"]
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"{url}/health", timeout=5):
                    break
            except OSError:
                time.sleep(0.2)
        os.environ["HOTLOOP_URL"], os.environ["HOTLOOP_TOKEN"] = url, TOKEN
        yield url
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture(scope="session")
def with_token(service):
    """The same with the token in the URL, for clients that can set nothing else."""
    return service.replace("http://", f"http://any:{TOKEN}@")


@pytest.fixture(scope="session")
def seed():
    """The task's naive candidate, as a model would write it."""
    return f"Here you are:\n```c\n{SEED}```\n"
