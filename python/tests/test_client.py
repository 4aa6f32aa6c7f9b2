"""The client: three values, asking again, and what it does when nobody answers."""

import asyncio
import http.server
import json
import threading

import pytest

from hotloop import Client, MachineFailure, RequestError


def test_verdicts_rewards_and_order(service, seed):
    judged = Client().judge([{"completion": seed}, {"completion": "no code"}, {"source": "int x;"}], task="matmul")
    assert [one.verdict for one in judged] == ["correct", "malformed", "malformed"]
    assert judged[0].reward == pytest.approx(1.0, abs=2.0) and judged[0].gflops > 0
    assert judged[1].reward == -4.0 and judged[0].reward_shape == "ladder-log"


def test_many_at_once_are_cut_into_batches(service):
    judged = asyncio.run(Client().ajudge([{"completion": f"no code {n}"} for n in range(700)], task="matmul"))
    assert len(judged) == 700 and {one.verdict for one in judged} == {"malformed"}


def test_a_wrong_request_is_an_error_and_a_wrong_token_too(service):
    with pytest.raises(RequestError, match="there is no task"):
        Client().judge([{"source": "x"}], task="../matmul")
    with pytest.raises(RequestError, match="401"):
        Client(token="wrong").tasks()


def test_prompts_and_answers(service, seed):
    client = Client()
    [first] = client.prompts("py", 1, "matmul")
    assert first.stage == 1 and first.messages[-1]["role"] == "user"
    rows = [{"completion": seed, "prompt_id": first.prompt_id}, {"completion": "no", "prompt_id": first.prompt_id}]
    assert [one.verdict for one in client.judge(rows)] == ["correct", "malformed"]
    assert client.prompts("py", 1)[0].iteration == 1
    assert client.request("/v1/runs/py")["totals"] is not None


class Flaky(http.server.BaseHTTPRequestHandler):
    """Says 503 twice, hangs up once, then answers."""

    asked = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append([one["id"] for one in body["candidates"]])
        if len(self.asked) == 2:
            self.close_connection = True
            return
        late = len(self.asked) < 4
        judged = [{"status": "judged", "reward": 2.5, "new_key": 1} for _ in body["candidates"]]
        answer = json.dumps({"error": "not yet"} if late else {"judged": judged}).encode()
        self.send_response(503 if late else 200)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def test_the_same_request_is_sent_again():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Flaky)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    [judged] = Client(f"http://127.0.0.1:{server.server_port}").judge([{"completion": "x"}])
    server.shutdown()
    assert judged.reward == 2.5
    assert len(Flaky.asked) == 4 and len({tuple(ids) for ids in Flaky.asked}) == 1


def test_nobody_there_is_a_machine_failure_and_no_number():
    client = Client("http://127.0.0.1:9", patience_s=0.1)
    [judged] = client.judge([{"completion": "x"}])
    assert judged.reward is None and judged.status == "machine-failure"
    with pytest.raises(MachineFailure):
        client.tasks()
