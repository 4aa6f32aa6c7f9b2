"""A wheel of the program that is tested, installed into a fresh environment."""

import subprocess
import sys

import pytest
from conftest import ROOT, program


def test_a_wheel_brings_program_and_client(tmp_path):
    binary = program()
    if binary is None:
        pytest.skip("no hotloop program: build it, or name it by HOTLOOP_BIN")
    packed = [sys.executable, str(ROOT / "packaging/wheel"), binary, "--out", str(tmp_path), "--fast"]
    wheel = subprocess.run(packed, check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "fresh")], check=True)
    fresh = tmp_path / "fresh/bin"
    install = [fresh / "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel]
    subprocess.run(install, check=True, cwd=tmp_path)

    def says(*command):
        return subprocess.run(command, check=True, cwd=tmp_path, capture_output=True, text=True).stdout.strip()

    version = says(fresh / "python", "-c", "import hotloop; print(hotloop.__version__)")
    assert says(fresh / "hotloop", "--version") == f"hotloop {version}"
    assert "matmul" in says(fresh / "hotloop", "task", "list")
    assert says(fresh / "pip", "show", "--files", "hotloop").count("bin/hotloop") == 1
