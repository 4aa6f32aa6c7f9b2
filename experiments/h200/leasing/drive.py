"""Runs jobs one after the other inside a budget. What is done is never done again; what was cut off goes on.

A job's folder holds `job.json` (how it stands), `stdout.txt` and `stderr.txt`; a run's is the run directory too.
`lease.json` says who drives. Both are written whole, so that a kill at any moment leaves something to go on from.
"""

import ctypes
import fcntl
import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from leasing import pack, plan, table
from leasing.plan import Job, Mistake

RESERVE = 40.0  # seconds of the budget for the table and the pack
SHARE = 0.7  # a job is begun when so much of its time is left: a run that is cut off tells little
GRACE = 30.0  # seconds from the first signal, which asks, to the second, which insists
LAST = 5.0  # and from there to the kill


def write(path: Path, value: dict) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(value, indent=1))
    part.rename(path)


def load(path: Path) -> dict:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return {}


def standing(job: Job | dict) -> dict:
    """How a job stands."""
    folder = Path(job["folder"] if isinstance(job, dict) else job.folder)
    if job["have"] if isinstance(job, dict) else job.have:
        return {"state": "done", "seconds": 0.0}
    return load(folder / "job.json") or {"state": "waiting", "seconds": 0.0}


def birth(pid: int) -> str:
    """When a process began, so that another one with its number is not taken for it; empty when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]


def lives(told: dict) -> bool:
    """Whether the process of `pid` and `birth` is there. One that was gone before its birth was asked for has none."""
    return bool(told.get("birth")) and birth(told["pid"]) == told["birth"]


class Stop:
    """Whether someone asked the driver to stop. A flag and no exception, which would come between any two lines and
    leave something under way; and no `Event`, whose lock a second signal would wait for forever."""

    asked = False

    def listen(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.ask)

    def ask(self, *_: object) -> None:
        self.asked = True


@dataclass
class Lease:
    """What is known of a folder of jobs."""

    out: Path
    hotloop: str
    budget: float
    known: list[Job]  # all that the plan names

    def keep(self, jobs: list[Job]) -> list[dict]:
        """Writes down who drives which jobs, and gives all. Those that are not driven now stay known as they were: the
        table and the pack are of all that is there."""
        driven = [job.name for job in jobs]
        before = {job["name"]: job for job in load(self.out / "lease.json").get("jobs", [])}
        others = {name: job for name, job in before.items() if name not in driven and Path(job["folder"]).exists()}
        named = {job.name: job.plain() for job in self.known}
        everything = list({**named, **others}.values())
        write(self.out / "lease.json", {
            "pid": os.getpid(), "birth": birth(os.getpid()), "began": time.time(), "budget": self.budget,
            "hotloop": self.hotloop, "driven": driven, "jobs": everything,
        })  # fmt: skip
        return everything


def run(lease: Lease, jobs: list[Job], to: Path | None) -> int:
    """Drives the jobs; always ends with a table. Where asked for, what is worth it is packed after each of them: a machine
    may be taken away at any moment."""
    began, out = time.monotonic(), lease.out
    out.mkdir(parents=True, exist_ok=True)
    lock = open(out / ".lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Mistake(f"{out} is being driven by another process") from None
    unchanged(jobs)
    end_orphans(lease.keep(jobs))
    stop = Stop()
    stop.listen()
    for job in jobs:
        if stop.asked:
            break
        before = standing(job)["state"]
        one(job, jobs, began + lease.budget - RESERVE, stop)
        if to is not None and before != standing(job)["state"] == "done":
            pack.pack(table.see(out), to)
    status = 130 if stop.asked else 0
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    seen = table.see(out)
    print(table.text(seen), flush=True)
    if to is not None:
        for path in pack.pack(seen, to):
            print(f"{path}: {path.stat().st_size / 2**20:.1f} MiB", flush=True)
    missing = [job.name for job in jobs if standing(job)["state"] != "done"]
    print(f"{len(jobs) - len(missing)} of {len(jobs)} jobs are done in {time.monotonic() - began:.0f} s"
          + (f"; not done: {', '.join(missing)}" if missing else ""), flush=True)  # fmt: skip
    return status or (3 if missing else 0)


def unchanged(jobs: list[Job]) -> None:
    """What is there must be of the command that the plan names now: a result, and a run that would go on."""
    for job in jobs:
        told = standing(job)
        done = told["state"] == "done"
        if (done or begun(job)) and not plan.same(told.get("commands", job.commands), job.commands, not done):
            raise Mistake(
                f"{job.name} was {'done' if done else 'begun'} by another command than the plan's; choose another --out,"
                f" or remove {job.folder}"
            )


def begun(job: Job) -> bool:
    """Whether there is a run to go on with."""
    return job.directory is not None and Path(job.directory, "run.toml").exists()


def end_orphans(jobs: list[dict]) -> None:
    """What a driver that was killed had under way must be over before it is begun again."""
    for job in jobs:
        told = standing(job)
        if told["state"] != "running" or wait(lambda: not lives(told), GRACE):
            continue
        with suppress(ProcessLookupError):
            os.killpg(told["pid"], signal.SIGKILL)
        wait(lambda: not lives(told), GRACE)


def wait(over, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if over():
            return True
        time.sleep(0.1)
    return over()


def one(job: Job, jobs: list[Job], end: float, stop: Stop) -> None:
    """Does a job, if it is not done, has what it needs and has time."""
    told = standing(job)
    if told["state"] == "done":
        print(f"{job.name}: done before", flush=True)
        return
    done = {other.name for other in jobs if standing(other)["state"] == "done"}
    if lacking := [need for need in job.needs if need not in done]:
        print(f"{job.name}: left out, it needs {', '.join(lacking)}", flush=True)
        return
    # However it ends, the reserve is not touched.
    left = end - time.monotonic() - GRACE - LAST
    if left < SHARE * job.seconds:
        time_left = f"{max(left, 0):.0f} s are left of the {job.seconds:.0f} s that it may take"
        print(f"{job.name}: left out, {time_left}", flush=True)
        return
    folder = Path(job.folder)
    going_on = begun(job)
    if not going_on and folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    before = told["seconds"] if going_on else 0.0
    limit = min(job.seconds, left)
    # A run tells what it is of before there is anything of it.
    write(folder / "job.json", {"state": "cut", "seconds": before, "commands": job.commands})
    for command in [job.resume] if going_on else job.commands:
        words = [table.best(word, jobs) for word in command]
        state, code = ("cut", 130) if stop.asked else execute(job, words, (began, began + limit), before, stop)
        if state != "done":
            break
    told = {"state": state, "code": code, "seconds": before + time.monotonic() - began, "commands": job.commands}
    write(folder / "job.json", told)
    print(f"{job.name}: {state} after {told['seconds']:.0f} s", flush=True)


def execute(job: Job, command: list[str], span: tuple[float, float], before: float, stop: Stop) -> tuple[str, int]:
    """Runs one command to its end, or to that of the job's time: `done`, `failed` or `cut`."""
    folder, (began, latest) = Path(job.folder), span
    with open(folder / "stdout.txt", "ab") as out, open(folder / "stderr.txt", "ab") as err:
        try:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        except OSError as error:
            err.write(f"{error}\n".encode())
            return "failed", 127
    # Its limit is of all its commands, so its beginning is the first one's.
    write(folder / "job.json", {
        "state": "running", "pid": child.pid, "birth": birth(child.pid),
        "began": time.time() - (time.monotonic() - began), "seconds": before, "commands": job.commands,
    })  # fmt: skip
    wait(lambda: child.poll() is not None or stop.asked, latest - time.monotonic())
    code = child.poll()
    if code is None:
        return "cut", end(child)
    return ("done" if code == 0 else "failed"), code


def end(child: subprocess.Popen) -> int:
    """Asks, insists, kills: the first signal lets hotloop put a run away safely."""
    for number, seconds in ((signal.SIGINT, GRACE), (signal.SIGTERM, LAST)):
        child.send_signal(number)
        try:
            return child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            continue
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    return child.wait()


def die_with_parent() -> None:
    """A driver that is killed must not leave something that times candidates beside the next one."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def status(out: Path) -> str:
    """Who drives, what is done and what runs."""
    lease = load(out / "lease.json")
    if not lease:
        raise Mistake(f"{out}: nothing was driven there")
    gone = time.time() - lease["began"]
    lines = [f"{'drives' if lives(lease) else 'ended'}: {gone:.0f} s since the beginning, budget {lease['budget']:.0f} s"]
    for job in lease["jobs"]:
        told = standing(job)
        if told["state"] == "waiting" and job["name"] not in lease["driven"]:
            continue
        line = f"{told['state']:8} {job['name']}"
        if told["state"] == "running" and lives(told):
            said = last(Path(job["folder"]) / "stdout.txt")
            line += f"  {time.time() - told['began']:.0f} of {job['seconds']:.0f} s  {said}"
        elif told["state"] == "running":
            line = f"broken   {job['name']}"
        elif told["seconds"]:
            line += f"  {told['seconds']:.0f} s"
        lines.append(line)
    return "\n".join(lines)


def last(path: Path, length: int = 160) -> str:
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    return lines[-1][:length] if lines else ""
