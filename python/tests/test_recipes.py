"""The recipes for several GPUs are read by the trainers' own code, as far as that can be imported here."""

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from test_examples import run

RECIPES = ROOT / "examples/multi-gpu"


def lines(name):
    read = (RECIPES / name).read_text().splitlines()
    return [line for line in read if not line.startswith("#")]


def package(name):
    """The folder of a package, without importing it."""
    found = importlib.util.find_spec(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return Path(found.submodule_search_locations[0])


def test_verl_composes_its_recipe():
    """What `main_ppo --cfg job` does: verl's configuration refuses keys that it does not have."""
    hydra = Path(sys.prefix) / "hydra"
    if not hydra.is_dir():
        pytest.skip("hydra is not installed")
    code = f"""
import json, sys
import hydra, omegaconf
with hydra.initialize_config_dir({str(package("verl") / "trainer/config")!r}, version_base=None):
    read = hydra.compose("ppo_trainer", overrides=sys.argv[1:])
keys = [key.partition("=")[0] for key in sys.argv[1:]]
print(json.dumps({{key: str(omegaconf.OmegaConf.select(read, key)) for key in keys}}))
"""
    given = lines("verl.txt")
    environment = {**os.environ, "PYTHONPATH": str(hydra)}
    command = [sys.executable, "-c", code]
    done = subprocess.run([*command, *given], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["actor_rollout_ref.rollout.n"] == "64" and told["trainer.n_gpus_per_node"] == "8"
    unknown = subprocess.run([*command, *given, "trainer.no_such_key=1"], env=environment, capture_output=True, text=True)
    assert unknown.returncode != 0 and "no_such_key" in unknown.stderr


def openrlhf_arguments(words):
    """Runs the part of OpenRLHF's program that reads and checks its arguments, and returns what would be trained with."""
    tree = ast.parse((package("openrlhf") / "cli/train_ppo_ray.py").read_text())
    main = next(part for part in tree.body if isinstance(part, ast.If))
    imports = [part for part in tree.body if isinstance(part, ast.Import) and part.names[0].name != "ray"]
    kept = []
    names = {"__name__": "__main__", "train": kept.append, "datetime": importlib.import_module("datetime").datetime}
    before, sys.argv = sys.argv, ["train_ppo_ray", *words]
    try:
        exec(compile(ast.Module([*imports, main], []), "train_ppo_ray", "exec"), names)
    finally:
        sys.argv = before
    return kept[0]


def test_openrlhf_reads_its_recipe(capsys):
    try:
        importlib.import_module("openrlhf.utils.config")
    except ImportError as missing:
        pytest.skip(f"openrlhf cannot be imported: {missing}")
    words = [word for line in lines("openrlhf.txt") for word in line.split()]
    args = openrlhf_arguments(words)
    assert (args.rollout.n_samples_per_prompt, args.actor.num_gpus_per_node, args.algo.kl.init_coef) == (64, 8, 0)
    assert args.reward.remote_url == ["http://localhost:8000/get_reward"]
    with pytest.raises(SystemExit):
        openrlhf_arguments([*words, "--no.such.argument", "1"])


@pytest.mark.parametrize("trainer", ["verl", "openrlhf"])
def test_rows_name_their_task(tmp_path, trainer):
    rows = [json.loads(line) for line in run("prompt_rows.py", "--for", trainer, folder=tmp_path).splitlines()]
    assert len(rows) == 8 == len({json.dumps(row["prompt"]) for row in rows})
    for row in rows:
        assert "matmul_optimized" in row["prompt"][0]["content"]
        label = row["reward_model"]["ground_truth"] if trainer == "verl" else json.loads(row["label"])["task"]
        assert label == "matmul"
