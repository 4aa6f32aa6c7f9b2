"""The client: three values, asking again, and what it does when nobody answers."""

import asyncio
import contextlib
import email.utils
import http.server
import json
import logging
import socket
import threading
import time

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
    with pytest.raises(RequestError, match="401.*set HOTLOOP_TOKEN"):
        Client(token="wrong").tasks()


def test_prompts_and_answers(service, seed):
    client = Client()
    [first] = client.prompts("py", 1, "matmul")
    assert first.stage == 1 and first.messages[-1]["role"] == "user"
    rows = [{"completion": seed, "prompt_id": first.prompt_id}, {"completion": "no", "prompt_id": first.prompt_id}]
    assert [one.verdict for one in client.judge(rows)] == ["correct", "malformed"]
    assert client.prompts("py", 1)[0].iteration == 1
    assert client.request("/v1/runs/py")["totals"] is not None


NOT_YET = (503, "0", 0)
HANGS_UP = None


@contextlib.contextmanager
def flaky(*says):
    """A service that says these first (status, Retry-After, bytes that it keeps back) and answers then; what it is asked is told."""
    asked = []

    class Flaky(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append([one["id"] for one in body["candidates"]])
            said = says[len(asked) - 1] if len(asked) <= len(says) else (200, None, 0)
            self.close_connection = True
            if said is HANGS_UP:
                return
            status, after, kept_back = said
            judged = [{"status": "judged", "reward": 2.5, "id": one["id"], "new_key": 1} for one in body["candidates"]]
            answer = json.dumps({"judged": judged} if status == 200 else {"error": "not yet"}).encode()
            self.send_response(status)
            if after is not None:
                self.send_header("Retry-After", after)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer[: len(answer) - kept_back])

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Flaky)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    "says",
    [
        (NOT_YET, HANGS_UP, NOT_YET),
        ((200, None, 5),),
        ((503, "0", 5),),
        ((503, "Wed, 21 Oct 2015 07:28:00 GMT", 0), (503, "soon", 0), (503, "nan", 0)),
    ],
    ids=["late", "an answer that is cut off", "an error that is cut off", "dates and nonsense"],
)
def test_the_same_request_is_sent_again(says):
    with flaky(*says) as (url, asked):
        [judged] = Client(url).judge([{"completion": "x"}])
    assert judged.reward == 2.5
    assert len(asked) == len(says) + 1 and len({tuple(ids) for ids in asked}) == 1


def test_a_date_beyond_the_patience_is_a_machine_failure():
    in_an_hour = email.utils.formatdate(time.time() + 3600, usegmt=True)
    with flaky((503, in_an_hour, 0)) as (url, asked):
        [judged] = Client(url, patience_s=60).judge([{"completion": "x"}])
    assert judged.status == "machine-failure" and len(asked) == 1


def test_a_group_is_not_cut_and_the_order_stays():
    # 40 groups of 8, the members of each far apart, and one that is larger than a batch.
    rows = [{"completion": "x", "id": f"{n}", "prompt_id": f"run/0/{n % 40}"} for n in range(320)]
    rows += [{"completion": "x", "id": f"large {n}", "group": "large", "prompt_id": f"run/1/{n}"} for n in range(300)]
    with flaky() as (url, asked):
        judged = Client(url).judge(rows)
    assert [one.id for one in judged] == [row["id"] for row in rows]
    groups = {row["id"]: row.get("group", row["prompt_id"]) for row in rows}
    assert [len(ids) for ids in asked] == [256, 64, 300]
    sets = [{groups[id] for id in ids} for ids in asked]
    assert not sets[0] & sets[1] and sets[2] == {"large"}
    with pytest.raises(RequestError, match="group huge has 1025"):
        Client("http://127.0.0.1:9").judge([{"completion": "x", "group": "huge"}] * 1025)


def test_a_service_that_fails_costs_the_patience_once():
    with flaky(NOT_YET, NOT_YET, NOT_YET) as (url, asked):
        judged = Client(url, patience_s=0.1).judge([{"completion": "x"}] * 600)
    assert len(asked) == 1 and len(judged) == 600
    assert {(one.status, one.reward) for one in judged} == {("machine-failure", None)}


def test_nobody_there_is_a_machine_failure_and_no_number():
    client = Client("http://127.0.0.1:9", patience_s=0.1)
    [judged] = client.judge([{"completion": "x"}])
    assert judged.reward is None and judged.status == "machine-failure"
    with pytest.raises(MachineFailure):
        client.tasks()


@contextlib.contextmanager
def closed():
    """A port that nobody listens on."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@contextlib.contextmanager
def full():
    """A port whose queue is full, so that no connection is made."""
    with socket.socket() as listener, contextlib.ExitStack() as waiting:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def said_when_nobody_answers(url, caplog):
    """What the client has said when it has tried for two seconds and goes on."""
    with caplog.at_level(logging.WARNING, "hotloop"):
        asking = threading.Thread(target=lambda: Client(url, first_s=10).judge(["x"]), daemon=True)
        asking.start()
        asking.join(2.0)
        said = [record.getMessage() for record in caplog.records]
        assert asking.is_alive(), "it goes on trying"
    return said


def test_it_says_soon_that_nobody_answers_and_why(caplog):
    with closed() as port:
        [said] = said_when_nobody_answers(f"http://127.0.0.1:{port}", caplog)
    assert "no service listens on this port" in said and "hotloop serve" in said


def test_a_host_that_does_not_exist_is_named(caplog):
    [said] = said_when_nobody_answers("http://no-such-host.invalid:8000", caplog)
    assert "no-such-host.invalid" in said and "no host has this name" in said


def test_a_connection_that_is_never_made_is_told_of(caplog):
    with full() as port:
        [said] = said_when_nobody_answers(f"http://127.0.0.1:{port}", caplog)
    assert "no connection yet" in said


@contextlib.contextmanager
def answering(answer):
    """A port where everybody gets these bytes, whatever they say."""

    def serve():
        with contextlib.suppress(OSError):
            while True:
                one, _ = listener.accept()
                with one:
                    one.recv(4096)
                    one.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


def test_a_wrong_scheme_is_named(caplog):
    with answering(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n") as port:
        [said] = said_when_nobody_answers(f"https://127.0.0.1:{port}", caplog)
    assert "try http:// instead of https://" in said


def test_plain_words_to_a_service_with_tls_are_told_of(caplog):
    with answering(b"") as port:
        [said] = said_when_nobody_answers(f"http://127.0.0.1:{port}", caplog)
    assert "try https:// instead of http://" in said


@pytest.mark.parametrize("url", ["localhost:8000", "127.0.0.1:8000", "ftp://localhost", "http://", "bench"])
def test_a_url_without_a_scheme_is_an_error_at_once(url):
    with pytest.raises(RequestError, match="http://HOST:PORT"):
        Client(url)


def test_it_gives_up_when_nothing_ever_answered():
    with closed() as port:
        client = Client(f"http://127.0.0.1:{port}", first_s=0.5)
        with pytest.raises(MachineFailure, match="no service listens"):
            client.tasks()
    assert Client("http://127.0.0.1:9").first_s == 60


def test_a_string_is_a_completion_and_other_mistakes_are_named():
    with flaky() as (url, asked):
        [judged] = Client(url).judge(["```c\nint x;\n```"])
        assert judged.reward == 2.5 and len(asked) == 1
        for wrong, remedy in [("int x;", "list"), ({"source": "int x;"}, "list"), ([7], "mapping"), ([None], "mapping")]:
            with pytest.raises(TypeError, match=remedy):
                Client(url).judge(wrong)
            with pytest.raises(TypeError, match=remedy):
                asyncio.run(Client(url).ajudge(wrong))
    assert len(asked) == 1
