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
from pathlib import Path

from leasing import pack, table
from leasing.plan import Job, Mistake

RESERVE = 40.0  # seconds of the budget for the table and the pack
SHARE = 0.7  # a job is begun when so much of its time is left: a run that is cut off tells little
GRACE = 30.0  # seconds from the first signal to the last


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


class Stopped(Exception):
    """Someone asked the driver to stop."""


def run(jobs: list[Job], out: Path, hotloop: str, budget: float, to: Path | None) -> int:
    """Drives the jobs; always ends with a table and, where asked for, a pack."""
    began = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    lock = open(out / ".lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Mistake(f"{out} is being driven by another process") from None
    unchanged(jobs)
    end_orphans(jobs)
    write(out / "lease.json", {
        "pid": os.getpid(), "birth": birth(os.getpid()), "began": time.time(), "budget": budget, "hotloop": hotloop,
        "jobs": [job.plain() for job in jobs],
    })  # fmt: skip

    def stop(*_: object) -> None:
        raise Stopped

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    status = 0
    try:
        for job in jobs:
            one(job, jobs, began + budget - RESERVE)
    except Stopped:
        status = 130
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
    """A result must be of the command that the plan names now, wherever the program lies."""
    for job in jobs:
        told = standing(job)
        if told["state"] == "done" and plain(told.get("commands", job.commands)) != plain(job.commands):
            raise Mistake(
                f"{job.name} was done by another command than the plan's; choose another --out, or remove {job.folder}"
            )


def plain(commands: list[list[str]]) -> list[list[str]]:
    return [command[1:] for command in commands]


def end_orphans(jobs: list[Job]) -> None:
    """What a driver that was killed had under way must be over before it is begun again."""
    for job in jobs:
        told = standing(job)
        pid = told.get("pid")
        if told["state"] != "running" or not pid or birth(pid) != told.get("birth"):
            continue
        if not wait(lambda: birth(pid) != told["birth"], GRACE):
            os.killpg(pid, signal.SIGKILL)
            wait(lambda: birth(pid) != told["birth"], GRACE)


def wait(over, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if over():
            return True
        time.sleep(0.1)
    return over()


def one(job: Job, jobs: list[Job], end: float) -> None:
    """Does a job, if it is not done, has what it needs and has time."""
    told = standing(job)
    if told["state"] == "done":
        print(f"{job.name}: done before", flush=True)
        return
    done = {other.name for other in jobs if standing(other)["state"] == "done"}
    if lacking := [need for need in job.needs if need not in done]:
        print(f"{job.name}: left out, it needs {', '.join(lacking)}", flush=True)
        return
    left = end - time.monotonic()
    if left < SHARE * job.seconds:
        time_left = f"{max(left, 0):.0f} s are left of the {job.seconds:.0f} s that it may take"
        print(f"{job.name}: left out, {time_left}", flush=True)
        return
    folder = Path(job.folder)
    going_on = job.directory is not None and Path(job.directory, "run.toml").exists()
    if not going_on and folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    before = told["seconds"] if going_on else 0.0
    limit = min(job.seconds, left)
    for command in [job.resume] if going_on else job.commands:
        state, code = execute(job, [table.best(word, jobs) for word in command], began, limit, before)
        if state != "done":
            break
    told = {"state": state, "code": code, "seconds": before + time.monotonic() - began, "commands": job.commands}
    write(folder / "job.json", told)
    print(f"{job.name}: {state} after {told['seconds']:.0f} s", flush=True)


def execute(job: Job, command: list[str], began: float, limit: float, before: float) -> tuple[str, int]:
    """Runs one command to its end or its limit: `done`, `failed` or `cut`."""
    folder = Path(job.folder)
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
    write(folder / "job.json", {
        "state": "running", "pid": child.pid, "birth": birth(child.pid), "began": time.time(), "seconds": before,
        "commands": job.commands,
    })  # fmt: skip
    try:
        code = child.wait(timeout=max(limit - (time.monotonic() - began), 0.1))
        return ("done" if code == 0 else "failed"), code
    except subprocess.TimeoutExpired:
        return "cut", end(child)
    except Stopped:
        write(folder / "job.json", {
            "state": "cut", "code": end(child), "seconds": before + time.monotonic() - began, "commands": job.commands,
        })  # fmt: skip
        raise


def end(child: subprocess.Popen) -> int:
    """Asks, insists, kills: the first signal lets hotloop put a run away safely."""
    for number, seconds in ((signal.SIGINT, GRACE), (signal.SIGTERM, 5.0)):
        child.send_signal(number)
        try:
            return child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            continue
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
    drives = birth(lease["pid"]) == lease["birth"]
    lines = [f"{'drives' if drives else 'ended'}: {gone:.0f} s since the beginning, budget {lease['budget']:.0f} s"]
    for job in lease["jobs"]:
        told = standing(job)
        line = f"{told['state']:8} {job['name']}"
        if told["state"] == "running" and birth(told["pid"]) == told["birth"]:
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
