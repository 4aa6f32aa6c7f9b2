"""The examples run as they stand: each starts a service of its own, and a tiny model answers."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT, program

SEED = ROOT / "tasks/matmul/seed.c"


def run(name, *arguments, folder):
    binary = program()
    if binary is None:
        pytest.skip("no hotloop program: build it, or name it by HOTLOOP_BIN")
    environment = {**os.environ, "HOTLOOP_BIN": binary}
    for key in ("HOTLOOP_URL", "HOTLOOP_TOKEN"):
        environment.pop(key, None)
    command = [sys.executable, str(ROOT / "examples" / name), *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_examples_are_short():
    for path in (ROOT / "examples").glob("*.py"):
        assert len(path.read_text().splitlines()) < 60, path


def test_sandbox_fusion(tmp_path):
    pytest.importorskip("sandbox_fusion")
    broken = tmp_path / "broken.c"
    broken.write_text(SEED.read_text().replace("sum +=", "sum -="))
    told = run("sandbox_fusion_client.py", str(SEED), str(broken), folder=tmp_path)
    assert "seed.c: Success, correct" in told and "broken.c: Failed, wrong" in told


def test_openenv(tmp_path):
    pytest.importorskip("openenv.core.generic_client")
    told = run("openenv_client.py", str(SEED), folder=tmp_path)
    assert "seed.c: correct, reward " in told and "steps: 1" in told


def test_trl(tmp_path):
    pytest.importorskip("trl")
    pytest.importorskip("torch")
    from test_trl import tiny

    model, tokenizer = tiny()
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    few = ["--steps", "2", "--group", "2", "--tokens", "16", "--cpu"]
    told = run("trl_grpo.py", "--model", str(tmp_path / "model"), *few, folder=tmp_path)
    assert "2 steps" in told
    assert (tmp_path / "runs/trl/events.jsonl").is_file()
