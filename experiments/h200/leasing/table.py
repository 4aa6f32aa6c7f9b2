"""One table over all runs of a lease, from `hotloop report --json`, and what the other jobs printed."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from leasing.plan import Job, Mistake


def report(hotloop: str, directories: list[str]) -> dict:
    """What `hotloop report` says of runs; of none, nothing."""
    if not directories:
        return {"runs": [], "pooled": []}
    ended = subprocess.run([hotloop, "report", *directories, "--json"], capture_output=True, text=True)
    if ended.returncode != 0:
        print(ended.stderr.rstrip(), file=sys.stderr)
        return {"runs": [], "pooled": []}
    return json.loads(ended.stdout)


@dataclass
class Seen:
    """What a lease has led to: its own file, and the report of each run by its job's name."""

    lease: dict
    found: dict[str, dict]


def see(out: Path) -> Seen:
    try:
        lease = json.loads((out / "lease.json").read_text())
    except FileNotFoundError:
        raise Mistake(f"{out}: nothing was driven there") from None
    found = {}
    for job in lease["jobs"]:
        if job["directory"] and Path(job["directory"], "run.toml").exists():
            for run in report(lease["hotloop"], [job["directory"]])["runs"]:
                found[job["name"]] = run
    return Seen(lease, found)


def text(seen: Seen) -> str:
    """The tables, and what jobs that are to be shown printed."""
    lease, found = seen.lease, seen.found
    directories = {job["name"]: job["directory"] for job in lease["jobs"]}
    parts = []
    if found:
        probes = ["probe before: GFLOPS", "correct", "probe after: GFLOPS", "correct"]
        costs = ["steps", "s/step", "tokens", "candidates", "GPU idle", "state"]
        head = ["run", *probes, "best GFLOPS", "of OpenBLAS", "of peak", *costs]
        parts.append(align([head, *(row(name, run) for name, run in found.items())]))
    pairs = [(job["name"], job["against"]) for job in lease["jobs"] if job["name"] in found and job["against"] in found]
    pairs = [(name, control) for name, control in pairs if name != control]
    if pairs:
        head = ["trained against control", "mean GFLOPS", "control", "times", "intervals", "best GFLOPS", "control"]
        parts.append(align([[*head, "gain"], *(against(found, *pair) for pair in pairs)]))
    rows = []
    for names in families(found, ends(lease)):
        pooled = report(lease["hotloop"], [directories[name] for name in names])["pooled"]
        for one in (one for one in pooled if one["before"]):
            cells = [
                interval(one[when], key, scale)
                for when in ("before", "after")
                for key, scale in (("gflops", 1), ("correct", 100))
            ]
            rows.append([", ".join(names), *cells])
    if rows:
        parts.append(align([["seeds together", "before: GFLOPS", "correct", "after: GFLOPS", "correct"], *rows]))
    for job in lease["jobs"]:
        stdout = Path(job["folder"], "stdout.txt")
        if job["show"] and stdout.exists():
            parts.append(f"{job['name']}:\n{stdout.read_text(errors='replace').rstrip()}")
        told = Path(job["folder"], "job.json")
        if told.exists() and json.loads(told.read_text())["state"] == "failed":
            stderr = Path(job["folder"], "stderr.txt").read_text(errors="replace").splitlines()
            parts.append("\n".join([f"{job['name']} failed:", *stderr[-5:]]))
    return "\n\n".join(parts) or "nothing ran yet"


def best(word: str, jobs: list[Job]) -> str:
    """`{best:JOB}` is the fastest code of a run, which is known only when it is over."""
    if not (word.startswith("{best:") and word.endswith("}")):
        return word
    job = next((job for job in jobs if job.name == word[6:-1]), None)
    if job is None or job.directory is None:
        return word
    for run in report(job.commands[0][0], [job.directory])["runs"]:
        if run["best"]:
            return f"{job.directory}/candidates/{run['best']['hash']}.c"
    return word


def row(name: str, run: dict) -> list[str]:
    totals, best = run["totals"], run["best"] or {}
    steps, wall = totals["steps"], totals["seconds"]["wall"]
    tokens = sum(point["tokens"] * (sum(point["verdicts"].values()) + point["masked"]) for point in run["points"])
    return [
        name, interval(run["before"], "gflops"), interval(run["before"], "correct", 100),
        interval(run["after"], "gflops"), interval(run["after"], "correct", 100),
        some(best.get("gflops"), 1), some(best.get("openblas_ratio")), some(best.get("peak_fraction")),
        str(steps), some(wall / steps if steps else None, 1), f"{tokens:.0f}", str(totals["answers"]),
        f"{100 * totals['seconds']['policy_idle'] / wall:.0f} %" if wall else "-", run["status"],
    ]  # fmt: skip


def against(found: dict[str, dict], name: str, control: str) -> list[str]:
    trained, other = found[name], found[control]
    # A control does not learn, so without probes of its own its probe is the one that both began with.
    own = other["after"] or other["before"]
    mine, its = trained["after"], own or trained["before"]
    cells = [name, interval(mine, "gflops"), interval(its, "gflops") + ("" if own else " (before)"), "-", "-"]
    if mine and its and its["gflops"]["value"]:
        cells[3] = f"{mine['gflops']['value'] / its['gflops']['value']:.2f}"
        apart = mine["gflops"]["low"] > its["gflops"]["high"] or mine["gflops"]["high"] < its["gflops"]["low"]
        cells[4] = "apart" if apart else "overlap"
    best, its_best = ((run["best"] or {}).get("gflops") for run in (trained, other))
    gain = f"{100 * (best / its_best - 1):+.0f} %" if best and its_best else "-"
    return [*cells, some(best, 1), some(its_best, 1), gain]


def families(found: dict[str, dict], ends: dict[str, list[str]]) -> list[list[str]]:
    """Runs that differ in nothing but their seed, by name: of one machine class, within which speeds compare, and of one
    end, which may have changed since the run was begun. A seed counts once: a second run of it is no other sample."""
    groups: dict[str, dict[int, str]] = {}
    for name, run in found.items():
        machine = (run["machine"] or {}).get("class")
        same = json.dumps([{**run["config"], "seed": 0, "directory": ""}, machine, ends.get(name)], sort_keys=True)
        groups.setdefault(same, {}).setdefault(run["config"]["seed"], name)
    return [list(names.values()) for names in groups.values() if len(names) > 1]


def ends(lease: dict) -> dict[str, list[str]]:
    """When each run was last told to end, by its command."""
    told = {}
    for job in lease["jobs"]:
        path = Path(job["folder"], "job.json")
        commands = json.loads(path.read_text()).get("commands", []) if path.exists() else []
        told[job["name"]] = [word for command in commands for word in command if word.startswith("budget.")]
    return told


def interval(probe: dict | None, key: str, scale: float = 1.0) -> str:
    if not probe:
        return "-"
    digits, unit = (0, " %") if scale > 1 else (2, "")
    value, low, high = (probe[key][bound] * scale for bound in ("value", "low", "high"))
    return f"{value:.{digits}f}{unit} [{low:.{digits}f}, {high:.{digits}f}]"


def some(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def align(rows: list[list[str]]) -> str:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in rows)
