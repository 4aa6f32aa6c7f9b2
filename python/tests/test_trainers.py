"""The rewards in the hands of the trainers themselves: unmodified packages from PyPI.

A package that is not installed leaves its test out, and the run says so.
"""

import asyncio
import importlib.util
from pathlib import Path

import pytest


def test_each_is_at_most_forty_lines():
    import hotloop

    for name in ("trl", "verl", "swift", "environment"):
        lines = (Path(hotloop.__file__).parent / f"{name}.py").read_text().count("\n")
        assert lines <= 40, f"{name} has {lines}"


def test_trl_compares_answers_to_one_prompt(service, seed):
    from hotloop.trl import reward

    other = seed.replace("{", "{ /* another */", 1)
    rewards = asyncio.run(reward("matmul", "ladder-group")(["one", "two"], [seed, other]))
    assert rewards == [100.0, 100.0], "each is the fastest answer to its prompt"


def test_verl_function(service, seed):
    from hotloop.verl import compute_score

    async def both():
        return await asyncio.gather(
            compute_score("hotloop", seed, "matmul", {"index": 1}),
            compute_score(data_source="x", solution_str="no", ground_truth=None, extra_info={"task": "matmul"}),
        )

    right, wrong = asyncio.run(both())
    assert right["correct"] == 1.0 and wrong["score"] == -4.0 and right.keys() == wrong.keys()


def test_verl_calls_run_code(with_token, seed):
    spec = importlib.util.find_spec("verl")
    if spec is None:
        pytest.skip("verl is not installed")
    path = Path(spec.submodule_search_locations[0]) / "utils/reward_score/sandbox_fusion/utils.py"
    loaded = importlib.util.spec_from_file_location("verl_sandbox_fusion", path)
    module = importlib.util.module_from_spec(loaded)
    loaded.loader.exec_module(module)
    outcomes, told = module.check_correctness(
        sandbox_fusion_url=f"{with_token}/run_code",
        in_outs={"inputs": ["matmul"], "outputs": ["correct"]},
        generation=seed,
        timeout=30,
        memory_limit_mb=1024,
        language="cpp",
    )
    assert outcomes == [True], told


def test_sandbox_fusion_client(with_token, seed):
    fusion = pytest.importorskip("sandbox_fusion")
    request = fusion.RunCodeRequest(code=seed, language="cpp", stdin="matmul", run_timeout=30)
    answer = fusion.run_code(request, endpoint=with_token, client_timeout=120)
    assert answer.status == fusion.RunStatus.Success and answer.run_result.stdout == "correct\n"
    broken = fusion.RunCodeRequest(code=seed.replace("sum +=", "sum -="), language="cpp", stdin="matmul")
    answer = fusion.run_code(broken, endpoint=with_token, client_timeout=120)
    assert answer.status == fusion.RunStatus.Failed and answer.run_result.stdout == "wrong\n"


def test_openrlhf_executor(with_token, seed):
    try:
        from openrlhf.utils.agent import SingleTurnAgentExecutor
    except ImportError as missing:
        pytest.skip(f"openrlhf cannot be imported: {missing}")
    prompt = "<|im_start|>user\nWrite it.<|im_end|>\n<|im_start|>assistant\n"
    executor = SingleTurnAgentExecutor([f"{with_token}/get_reward", f"{with_token}/get_reward"])
    fetch = executor._fetch_rewards_via_http([f"{prompt}{seed}<|im_end|>"], [prompt], ["matmul"])
    first, *rest = asyncio.run(fetch)
    assert first["scores"][0] > 0.0 and first["extra_logs"]["correct"] == [1.0]
    assert all(one["rewards"] == [] for one in rest)


def test_slime_request(with_token, seed):
    """slime is not on PyPI: its session and its request, made by the library that it uses."""
    aiohttp = pytest.importorskip("aiohttp")

    async def ask(response, label):
        timeout, connector = aiohttp.ClientTimeout(total=120), aiohttp.TCPConnector(limit=64)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            payload = {"prompt": "Write it.", "response": response, "label": label}
            async with session.post(f"{with_token}/rm", json=payload) as answer:
                answer.raise_for_status()
                return await answer.json()

    assert asyncio.run(ask(seed, "matmul")) > -1.0
    assert asyncio.run(ask("no code", None)) == -4.0
    with pytest.raises(aiohttp.ClientResponseError):
        asyncio.run(ask(seed, "no-such-task"))


def test_swift_plugin(service, seed, monkeypatch):
    try:
        from swift.rewards import orms
    except Exception as missing:  # its own dependencies may be of other versions
        pytest.skip(f"ms-swift cannot be imported: {missing}")
    import hotloop.swift  # noqa: F401

    monkeypatch.setenv("HOTLOOP_TASK", "matmul")
    rewards = asyncio.run(orms["hotloop"]()([seed, "no"], trainer_state=None, task=["matmul", "fft"]))
    assert rewards[0] > -1.0 and rewards[1] == -4.0


def test_verifiers_taskset(service, seed):
    vf = pytest.importorskip("verifiers.v1")
    from hotloop.environment import HotloopTaskset

    tasks = {task.data.name: task for task in HotloopTaskset(vf.TasksetConfig())}
    assert "matmul" in tasks and "matmul_optimized" in tasks["matmul"].data.prompt

    class Trace:
        last_reply = seed

    assert asyncio.run(tasks["matmul"].speed(Trace())) > -1.0


def test_openenv_client(service, seed):
    core = pytest.importorskip("openenv.core.generic_client")
    from conftest import TOKEN

    # Its client can send no header, but makes one of what stands before the host.
    url = service.replace("http://", f"ws://any:{TOKEN}@")
    with core.GenericEnvClient(base_url=url).sync() as env:
        begun = env.reset(task="matmul")
        assert begun.reward is None and "matmul_optimized" in begun.observation["prompt"]
        seen = env.step({"code": seed})
        assert seen.observation["verdict"] == "correct" and seen.reward > -1.0
        assert env.state()["step_count"] == 1
