"""`hotloop bench torch`, with the torch of these tests."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, program

PROBLEMS = ROOT / "crates/bench/tests/torch/problems"
# What a problem's own code may do wrong, and a word of what is said then.
BAD = {
    "syntax": ("class Model(", "SyntaxError"),
    "no-model": ("def get_inputs(): return []\ndef get_init_inputs(): return []", "Model"),
    "exits": ("import os; os._exit(3)", "exit status: 3"),
    "endless": ("while True: pass", "longer than 5 s"),
    "prints": ("import torch\nprint('{}')\n" + (PROBLEMS / "relu.py").read_text(), None),
}


def run(*arguments, folder):
    binary = program()
    if binary is None:
        pytest.skip("no hotloop program: build it, or name it by HOTLOOP_BIN")
    command = [binary, "bench", "torch", *arguments, "--python", sys.executable, "--device", "cpu"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)


def records(*arguments, folder):
    done = run(*arguments, "--json", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_all_sides_are_measured(tmp_path):
    pytest.importorskip("torch")
    [record] = records(str(PROBLEMS / "layernorm.py"), folder=tmp_path)
    assert record["device"] == "cpu" and record["tf32"] is False
    for side in ("eager", "compiled"):
        times = record[side]
        assert 0 < times["min_s"] <= times["median_s"] and times["runs"] >= 5
    assert 0 < record["reference"]["error"] < 1e-5, "floats are near doubles, and not equal to them"


def test_every_problem_is_compared_with_doubles(tmp_path):
    pytest.importorskip("torch")
    problems = [str(path) for path in sorted(PROBLEMS.glob("*.py"))]
    done = run(problems[0], "--eager-only", folder=tmp_path)
    assert done.returncode == 0 and "TF32 off" in done.stdout, done.stderr
    for record in records(*problems, "--eager-only", folder=tmp_path):
        # Numbers of sixteen bits keep eleven of them.
        bound = 1e-3 if ".half()" in Path(record["task"]).read_text() else 1e-4
        assert record["compiled"] is None and record["reference"]["error"] < bound, record


def test_a_bad_problem_ends_nothing_else(tmp_path):
    pytest.importorskip("torch")
    files = []
    for name, (source, _) in BAD.items():
        (tmp_path / f"{name}.py").write_text(source)
        files.append(f"{name}.py")
    # A new worker imports torch, which the limit leaves out.
    found = records(*files, str(PROBLEMS / "sum.py"), "--eager-only", "--limit", "5", folder=tmp_path)
    for (name, (_, word)), record in zip(BAD.items(), found[:-1], strict=True):
        if word is None:
            assert "median_s" in record["eager"], name
        else:
            assert word in record["why"], name
    assert "median_s" in found[-1]["eager"]


def test_a_run_that_was_cut_off_continues(tmp_path):
    pytest.importorskip("torch")
    out = tmp_path / "out.jsonl"
    one, two = (str(PROBLEMS / name) for name in ("relu.py", "sum.py"))
    arguments = ("--eager-only", "--out", str(out))
    [first] = records(one, *arguments, folder=tmp_path)
    whole = out.read_text()
    out.write_text(whole + whole[:40])
    again = records(one, two, *arguments, folder=tmp_path)
    assert again[0] == first, "it is not measured twice"
    assert [json.loads(line)["task"] for line in out.read_text().splitlines()] == [one, two]
    out.write_text("nothing\n")
    done = run(one, *arguments, folder=tmp_path)
    assert done.returncode == 1 and "line 1" in done.stderr and "--out" in done.stderr
    assert out.read_text() == "nothing\n"


def test_a_missing_torch_is_said(tmp_path):
    command = [program() or pytest.skip("no hotloop program"), "bench", "torch", str(PROBLEMS / "relu.py")]
    done = subprocess.run([*command, "--python", "/bin/true"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "no Python with torch" in done.stderr and "pip install" in done.stderr
