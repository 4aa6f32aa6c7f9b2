"""A client of `hotloop serve`, on the standard library alone.

Requests are sent again while the service says "not yet" (503, 504), "slower" (429) or nothing at all:
the same request joins what is under way, so nothing is judged twice. What is wrong with
the request itself raises `RequestError` at once.

When nobody answers, the client logs why within two seconds (logger `hotloop`, on standard error by default)
and goes on trying.
"""

from __future__ import annotations

import asyncio
import email.utils
import http.client
import json
import logging
import math
import os
import random
import socket
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

AGAIN = (429, 502, 503, 504)
BATCH = 256
"""Candidates in one request, but for a group that is larger."""
GROUP = 1024
"""Candidates in one request at most: what the service takes."""
WAIT_S = 50.0
"""How long the service may think before it says "not yet"."""
CONNECT_S = 1.0
"""How long a connection may take to be made before the client says so."""
REMIND_S = 60.0
"""How often the client says that it still tries."""

_log = logging.getLogger("hotloop")

_threads = ThreadPoolExecutor(max_workers=64, thread_name_prefix="hotloop")


class RequestError(ValueError):
    """The request is wrong; sending it again would not help."""


class MachineFailure(RuntimeError):
    """The service or its machine failed for longer than the client's patience."""


@dataclass(frozen=True)
class Judged:
    """What became of one candidate. `reward` is None when it is masked or the machine failed."""

    status: str
    """`judged`, `masked` or `machine-failure`."""
    verdict: Optional[str] = None
    reward: Optional[float] = None
    noise: Optional[float] = None
    reward_shape: str = ""
    detail: str = ""
    seconds_per_call: Optional[float] = None
    gflops: Optional[float] = None
    """None where the task counts no operations."""
    gflops_paper: Optional[float] = None
    peak_fraction: Optional[float] = None
    openblas_ratio: Optional[float] = None
    baseline: Optional[Mapping[str, Any]] = None
    """`name` and `seconds` of what the candidate is compared with."""
    language: str = ""
    task: str = ""
    stage: Optional[int] = None
    hash: Optional[str] = None
    id: Optional[str] = None
    error: Optional[str] = None
    timing: Optional[Mapping[str, Any]] = None
    seconds: Optional[Mapping[str, Any]] = None
    notes: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class Prompt:
    """A prompt of the staged search; `prompt_id` goes back with its answers."""

    prompt_id: str
    task: str
    messages: Sequence[Mapping[str, str]]
    stage: Optional[int] = None
    role: str = ""
    iteration: int = 0
    parent: Optional[str] = None
    begun: str = ""


def _known(kind: Any, told: Mapping[str, Any]) -> Any:
    names = {one.name for one in fields(kind)}
    return kind(**{key: value for key, value in told.items() if key in names})


def _impatient(connection: Any, remind: Callable[[str], None]) -> Any:
    """The connection, which says so when it takes long to be made."""
    connect = connection.connect

    def watched() -> None:
        timer = threading.Timer(CONNECT_S, remind, ("no connection yet; the host may be down, or a firewall in between",))
        timer.daemon = True
        timer.start()
        try:
            connect()
        finally:
            timer.cancel()

    connection.connect = watched
    return connection


class _Plain(urllib.request.HTTPHandler):
    def __init__(self, remind: Callable[[str], None]):
        super().__init__()
        self._remind = remind

    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(lambda host, **how: _impatient(http.client.HTTPConnection(host, **how), self._remind), req)


class _Secure(urllib.request.HTTPSHandler):
    def __init__(self, remind: Callable[[str], None]):
        super().__init__()
        self._remind = remind
        self._trusted: Optional[ssl.SSLContext] = None

    def https_open(self, req: urllib.request.Request) -> Any:
        trusted = self._trusted = self._trusted or ssl.create_default_context()  # takes long, so once

        def connection(host: str, **how: Any) -> Any:
            return _impatient(http.client.HTTPSConnection(host, context=trusted, **how), self._remind)

        return self.do_open(connection, req)


class Client:
    """Speaks to one service. `url` and `token` default to HOTLOOP_URL and HOTLOOP_TOKEN.

    `patience_s` is how long one request, of up to 256 candidates, may go without an answer.
    `first_s` is how long a service that has never answered this client is waited for.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        patience_s: float = 1800.0,
        first_s: float = 60.0,
    ):
        url = url or os.environ.get("HOTLOOP_URL", "http://localhost:8000")
        parts = urllib.parse.urlsplit(url.rstrip("/"))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RequestError(f"{url}: not a service's address; write it as http://HOST:PORT or https://HOST:PORT")
        token = token or os.environ.get("HOTLOOP_TOKEN") or urllib.parse.unquote(parts.password or "")
        host = parts.netloc.rpartition("@")[2]
        self.url = urllib.parse.urlunsplit((parts.scheme, host, parts.path, "", ""))
        self.patience_s = patience_s
        self.first_s = first_s
        self._opener = urllib.request.build_opener(_Plain(self._remind), _Secure(self._remind))
        self._answered = False
        self._reminded = -math.inf
        self._lock = threading.Lock()
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def request(self, path: str, body: Any = None, timeout_s: float = WAIT_S + 30.0) -> Any:
        """One request, sent again until there is an answer or the patience is at its end."""
        data = None if body is None else json.dumps(body).encode()
        begin = time.monotonic()
        tries = 0
        while True:
            tries += 1
            after = min(0.5 * 2**tries, 30.0 if self._answered else 5.0) * (0.5 + random.random())
            try:
                request = urllib.request.Request(self.url + path, data, self._headers)
                with self._opener.open(request, timeout=timeout_s) as answer:
                    told = json.load(answer)
                self._answered = True
                return told
            except urllib.error.HTTPError as error:
                self._answered = True
                with error:
                    said = _said(error)
                if error.code == 401:
                    said += "; set HOTLOOP_TOKEN, or Client(token=...), to one of the service's tokens"
                if error.code not in AGAIN:
                    raise RequestError(f"{path}: {error.code}: {said}") from None
                after = max(_after(error.headers.get("Retry-After")), 0.2) * (1.0 + 0.2 * random.random())
            except http.client.InvalidURL as error:
                raise RequestError(f"{self.url}{path}: {error}") from None
            except (OSError, ValueError, http.client.HTTPException) as error:  # refused, reset, timed out, cut off
                said = _why(error, self.url)
                self._remind(said)
                after = min(after, max(begin + self._patience() - time.monotonic(), 0.0))
            if time.monotonic() + after > begin + self._patience():
                raise MachineFailure(f"{self.url}{path}: {said}")
            time.sleep(after)

    def _patience(self) -> float:
        return self.patience_s if self._answered else min(self.patience_s, self.first_s)

    def _remind(self, why: str) -> None:
        """Says now and then, once for all threads, that nobody answers."""
        with self._lock:
            now = time.monotonic()
            if now - self._reminded < REMIND_S:
                return
            self._reminded = now
        _log.warning("hotloop: %s: no answer: %s; trying for up to %.0f s", self.url, why, self._patience())

    def judge(
        self,
        candidates: Iterable[Union[str, Mapping[str, Any]]],
        task: Optional[str] = None,
        stage: Optional[int] = None,
        reward: Any = None,
        fresh: bool = False,
    ) -> list[Judged]:
        """Judges candidates: mappings with `completion` or `source`, and `id`, `task`, `stage`, `prompt_id`, `group`.
        A plain string is a completion: a model's answer with code in it, or the code alone.

        They go in several requests where they are many, those of one `group` or `prompt_id` in one. When a request has
        no answer for too long, it and all that is left count as machine failure.
        """
        named = [{"id": uuid.uuid4().hex, **_given(one)} for one in _mappings(candidates)]
        asked = _given({"task": task, "stage": stage, "reward": reward, "fresh": fresh or None, "wait_s": WAIT_S})
        told: dict[int, Mapping[str, Any]] = {}
        failed = ""
        for places in _batches(named):
            batch = [named[at] for at in places]
            answers: Sequence[Mapping[str, Any]] = ()
            try:
                if not failed:
                    answers = self.request("/v1/judge", {**asked, "candidates": batch})["judged"]
            except MachineFailure as failure:
                failed = str(failure)
            if failed:
                answers = [{"status": "machine-failure", "id": one["id"], "error": failed} for one in batch]
            told.update(zip(places, answers))
        return [_known(Judged, told[at]) for at in range(len(named))]

    async def ajudge(self, candidates: Iterable[Union[str, Mapping[str, Any]]], **how: Any) -> list[Judged]:
        """The same without holding up the event loop."""
        candidates = _mappings(candidates)
        return await asyncio.get_running_loop().run_in_executor(_threads, lambda: self.judge(candidates, **how))

    async def arequest(self, path: str, body: Any = None) -> Any:
        """`request` without holding up the event loop."""
        return await asyncio.get_running_loop().run_in_executor(_threads, self.request, path, body)

    def prompts(self, run: str, n: int = 1, task: Optional[str] = None) -> list[Prompt]:
        """The next prompts of a run's staged search, which begins if a task is named."""
        asked = _given({"run": run, "n": n, "task": task})
        return [_known(Prompt, one) for one in self.request("/v1/prompts", asked)["prompts"]]

    def tasks(self) -> list[dict[str, Any]]:
        """The tasks of the service."""
        return list(self.request("/v1/tasks"))

    def task(self, name: str) -> dict[str, Any]:
        """One task, with its prompt and its seed."""
        return dict(self.request(f"/v1/tasks/{urllib.parse.quote(name, safe='')}"))


def _mappings(candidates: Iterable[Union[str, Mapping[str, Any]]]) -> list[Mapping[str, Any]]:
    """The candidates as mappings. A mistake is named before anything is sent."""
    if isinstance(candidates, (str, bytes, Mapping)):
        raise TypeError(f"candidates is one {type(candidates).__name__}; put it into a list: judge([...])")
    mappings: list[Mapping[str, Any]] = []
    for at, one in enumerate(candidates):
        if isinstance(one, str):
            mappings.append({"completion": one})
        elif isinstance(one, Mapping):
            mappings.append(one)
        else:
            kind = type(one).__name__
            raise TypeError(f"candidate {at} is a {kind}; give a string, or a mapping such as {{'source': 'void f() {{}}'}}")
    return mappings


def _given(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if value is not None}


def _batches(candidates: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """The places of candidates that go in one request. A group is compared within itself, so it is not cut."""
    groups: dict[Any, list[int]] = {}
    for at, one in enumerate(candidates):
        name = one.get("group", one.get("prompt_id"))
        groups.setdefault(("alone", at) if name is None else ("group", name), []).append(at)
    batches: list[list[int]] = []
    for (_, name), places in groups.items():
        if len(places) > GROUP:
            raise RequestError(f"group {name} has {len(places)} candidates; {GROUP} can be compared")
        if not batches or len(batches[-1]) + len(places) > BATCH:
            batches.append([])
        batches[-1] += places
    return batches


def _why(error: Exception, url: str) -> str:
    """Why there is no answer, and what may help."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    said = str(reason) or type(reason).__name__
    if isinstance(reason, ConnectionRefusedError):
        return f"{said}: no service listens on this port (`hotloop serve` starts one)"
    if isinstance(reason, socket.gaierror):
        return f"{said}: no host has this name"
    if isinstance(reason, ssl.SSLError) and not isinstance(reason, ssl.SSLCertVerificationError):
        return f"{said}: the service may speak plain HTTP; try http:// instead of https://"
    if isinstance(reason, (http.client.BadStatusLine, ConnectionResetError)) and url.startswith("http://"):
        return f"{said}: the service may speak TLS; try https:// instead of http://"
    return said


def _after(told: Optional[str]) -> float:
    """The seconds that Retry-After asks for, as a number or as a date; 0 where it cannot be understood."""
    try:
        seconds = float(told or 0.0)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(str(told)).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return 0.0
    return seconds if math.isfinite(seconds) else 0.0


def _said(error: urllib.error.HTTPError) -> str:
    try:
        told = json.load(error)
        return str(told["error"]) + (f" ({told['hint']})" if "hint" in told else "")
    except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
        return error.reason if isinstance(error.reason, str) else "no reason was given"
