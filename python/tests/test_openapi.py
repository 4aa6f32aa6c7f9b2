"""schemathesis against the description: whatever is sent, no 5xx, and answers as described."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import TOKEN


def test_no_5xx(service, tmp_path):
    program = Path(sys.executable).with_name("schemathesis")
    if not program.exists() and not shutil.which("schemathesis"):
        pytest.skip("schemathesis is not installed")
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    checks += ",ignored_auth,unsupported_method,positive_data_acceptance,negative_data_rejection"
    command = [str(program), "run", f"{service}/openapi.json", "--header", f"Authorization: Bearer {TOKEN}"]
    command += ["--checks", checks, "--max-examples", "25", "--seed", "1", "--no-color", "--phases", "examples,coverage,fuzzing"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
