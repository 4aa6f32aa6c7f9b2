"""From a plan file to jobs: variables filled in, lists expanded, mistakes told before anything runs."""

import fnmatch
import itertools
import math
import re
import shlex
import tomllib
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

KEYS = {"name", "seconds", "run", "train", "set", "each", "needs", "against", "show"}


class Mistake(Exception):
    """The user's."""


@dataclass
class Job:
    """One thing to do, in a folder of its own."""

    name: str
    folder: str
    seconds: float  # it is stopped after so many
    commands: list[list[str]]
    directory: str | None = None  # the run directory, if it is a run
    resume: list[str] = field(default_factory=list)  # goes on with a run that is there
    needs: list[str] = field(default_factory=list)
    against: str | None = None  # the control that the run is compared with
    show: bool = False  # what it prints belongs into the table
    have: bool = False  # done elsewhere

    def plain(self) -> dict:
        return asdict(self)


def read(path: Path, out: Path, hotloop: str, let: dict, have: dict) -> list[Job]:
    """The jobs of a plan, in its order."""
    try:
        text = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Mistake(f"{path}: {error}") from None
    known = text.get("let", {})
    for name in let:
        if name not in known:
            raise Mistake(f"--let {name}: the plan lets only {', '.join(known) or 'nothing'}")
    values = {**known, **let, "hotloop": hotloop, "here": str(path.resolve().parent)}
    entries = [(entry, chosen) for entry in text.get("job", []) for chosen in choices(entry.get("each", {}))]
    names = [fill(entry["name"], {**values, **chosen}, {}, path) for entry, chosen in entries if check(entry, path)]
    if twice := {name for name in names if names.count(name) > 1}:
        raise Mistake(f"{path}: two jobs are called {', '.join(sorted(twice))}")
    for name in have:
        if name not in names:
            raise Mistake(f"--have {name}: there is no such job")
    folders = {name: str(Path(have[name]).resolve()) if name in have else str(out / name) for name in names}
    return [
        job(name, entry, {**values, **chosen}, folders, path, name in have)
        for name, (entry, chosen) in zip(names, entries)
    ]


def choose(jobs: list[Job], only: list[str]) -> list[Job]:
    """The jobs asked for and what they need; all, where none are named."""
    names = [one.name for one in jobs]
    for pattern in only:
        if not fnmatch.filter(names, pattern):
            raise Mistake(f"--only {pattern}: there is no such job; there are {', '.join(names)}")
    wanted = closure(jobs, {name for pattern in only for name in fnmatch.filter(names, pattern)})
    return [one for one in jobs if not only or one.name in wanted]


def choices(each: dict | list) -> list[dict]:
    """What a job is made for: every combination of lists, or every table of a list."""
    if isinstance(each, list):
        return each
    return [dict(zip(each, chosen)) for chosen in itertools.product(*each.values())]


def check(entry: dict, path: Path) -> bool:
    if unknown := set(entry) - KEYS:
        raise Mistake(f"{path}: a job has no key {', '.join(sorted(unknown))}")
    if not {"name", "seconds"} <= set(entry) or ("run" in entry) == ("train" in entry):
        raise Mistake(f"{path}: a job has `name`, `seconds`, and either `run` or `train`: {entry.get('name', entry)}")
    return True


def job(name: str, entry: dict, values: dict, folders: dict, path: Path, have: bool) -> Job:
    values = {**values, "folder": folders[name]}

    def full(text: object) -> str:
        return fill(str(text), values, folders, path)

    needs = [full(need) for need in entry.get("needs", [])]
    if unknown := set(needs) - set(folders):
        raise Mistake(f"{path}: {name} needs {', '.join(unknown)}, which is no job")
    made = Job(name, folders[name], seconds(full(entry["seconds"]), f"{path}: {name}"), [], needs=needs, have=have)
    made.show = entry.get("show", False)
    made.against = full(entry["against"]) if "against" in entry else None
    if "run" in entry:
        texts = [entry["run"]] if isinstance(entry["run"], str) else entry["run"]
        made.commands = [[full(word) for word in shlex.split(text)] for text in texts]
        return made
    made.directory = folders[name]
    sets = {full(key): full(spelled(value)) for key, value in entry.get("set", {}).items()}
    made.commands = [[values["hotloop"], "train", full(entry["train"]), *words({**sets, "directory": made.directory})]]
    # When it ends is all that may change in a run that is there.
    ends = {key: value for key, value in sets.items() if key.startswith("budget.")}
    made.resume = [values["hotloop"], "train", "--resume", made.directory, *words(ends)]
    return made


def seconds(text: str, what: str) -> float:
    """A number, or a sum as `{seconds}+70`: a limit that follows what it limits."""
    with suppress(ValueError):
        if 0 < (total := sum(float(part) for part in text.split("+"))) < math.inf:
            return total
    raise Mistake(f"{what}: {text!r} are no seconds")


def words(sets: dict[str, str]) -> list[str]:
    return [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]


def same(commands: list[list[str]], others: list[list[str]], begun: bool) -> bool:
    """Whether two are one, wherever the program lies; for a run that has `begun`, whenever it is to end."""

    def plain(command: list[str]) -> list[str]:
        return [re.sub(r"^(budget\.\w+=).*", r"\1", word) if begun else word for word in command[1:]]

    return [plain(command) for command in commands] == [plain(command) for command in others]


def spelled(value: object) -> str:
    """As TOML spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def fill(text: str, values: dict, folders: dict, path: Path) -> str:
    """Puts in what stands in braces."""

    def one(match: re.Match) -> str:
        kind, _, name = match[1].rpartition(":")
        known = folders if kind == "job" else values
        if name not in known:
            raise Mistake(f"{path}: nothing is known of {{{match[1]}}}")
        if known[name] == "":
            raise Mistake(f"{path}: say what {name} is, with --let {name}=...")
        return str(known[name])

    # What a value brings in may have braces of its own.
    for _ in range(3):
        text = re.sub(r"\{((?:job:)?[\w.-]+)\}", one, text)
    return text


def closure(jobs: list[Job], wanted: set[str]) -> set[str]:
    """The jobs asked for, and what they need."""
    by_name = {one.name: one for one in jobs}
    open_names = list(wanted)
    while open_names:
        for need in by_name[open_names.pop()].needs:
            if need not in wanted:
                wanted.add(need)
                open_names.append(need)
    return wanted


def told(jobs: list[Job]) -> str:
    lines = []
    for one in jobs:
        lines.append(f"{one.name}: at most {one.seconds:.0f} s{', is there' if one.have else ''}")
        lines += [f"    {shlex.join(command)}" for command in one.commands if not one.have]
    total = sum(one.seconds for one in jobs if not one.have)
    return "\n".join([*lines, f"{len(jobs)} jobs, at most {total:.0f} s together"])
