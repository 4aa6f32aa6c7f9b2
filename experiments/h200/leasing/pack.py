"""What is worth carrying home, in few files of limited size, the most wanted first.

`results.tar.gz`     tables, reports, curves, logs, the best code, evaluations
`adapter-JOB.tar.gz` an adapter in bf16, half its size; the best run's first
`journal-JOB.tar.gz` the run itself, enough for `hotloop report`

A file that is too large is cut into parts that `cat` joins; what does not fit any more is named in `left-out.txt`
among the results.
"""

import array
import io
import json
import struct
import tarfile
from pathlib import Path

from leasing import table

FILES = 8
BYTES = 15 << 20  # below 16 MiB
LOG = 1 << 20  # bytes of a file's end


def pack(seen: table.Seen, to: Path) -> list[Path]:
    """Writes the files and gives their paths."""
    to.mkdir(parents=True, exist_ok=True)
    lease, found = seen.lease, seen.found
    wanted = [(f"adapter-{name}", adapter(folder)) for name, folder in adapters(lease, found)]
    wanted += [(f"journal-{name}", journal(lease, name)) for name in found]
    chosen, left_out, count = [], [], 1
    for name, members in wanted:
        data = tar(members)
        parts = -(-len(data) // BYTES)
        if count + parts > FILES:
            left_out.append(name)
            continue
        count += parts
        chosen.append((name, data))
    results = {**small(seen), "left-out.txt": "".join(f"{name}\n" for name in left_out).encode()}
    written = []
    for name, data in [("results", tar(results)), *chosen]:
        for at in range(0, len(data), BYTES):
            suffix = f".{at // BYTES:02}" if len(data) > BYTES else ""
            path = to / f"{name}.tar.gz{suffix}"
            # Who copies the folder meanwhile gets the old file or the new one.
            part = to / f".{path.name}.part"
            part.write_bytes(data[at : at + BYTES])
            part.rename(path)
            written.append(path)
    for old in set(to.glob("*.tar.gz*")) - set(written):
        old.unlink()
    return written


def tar(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=6) as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


def small(seen: table.Seen) -> dict[str, bytes]:
    """What a page about the lease is written from."""
    lease, found = seen.lease, seen.found
    members = {"lease.json": json.dumps(lease, indent=1).encode(), "table.txt": table.text(seen).encode() + b"\n"}
    for job in lease["jobs"]:
        folder, name = Path(job["folder"]), job["name"]
        for kept in ("job.json", "stdout.txt", "stderr.txt", "run.toml", "steps.csv"):
            if (folder / kept).exists():
                members[f"{name}/{kept}"] = (folder / kept).read_bytes()[-LOG:]
        for path in [*folder.glob("*/evaluation.json"), *folder.glob("*/answers.jsonl")]:
            members[f"{name}/{path.relative_to(folder)}"] = path.read_bytes()
        if name in found:
            members[f"{name}/report.json"] = json.dumps(found[name]).encode()
            if found[name]["best"]:
                members[f"{name}/best.c"] = found[name]["best"]["source"].encode()
    return members


def journal(lease: dict, name: str) -> dict[str, bytes]:
    directory = Path(next(job["directory"] for job in lease["jobs"] if job["name"] == name))
    whole = [directory / name for name in ("run.toml", "seed.c", "events.jsonl")]
    paths = [*whole, *directory.glob("candidates/*.c")]
    return {f"{name}/{path.relative_to(directory)}": path.read_bytes() for path in paths if path.exists()}


def adapters(lease: dict, found: dict[str, dict]) -> list[tuple[str, Path]]:
    """Where adapters lie: what jobs that are no runs made, then the runs' last, by their probe after."""
    made, learned = [], []
    for job in lease["jobs"]:
        if job["directory"] is None and not job["have"]:
            made += [(job["name"], path.parent) for path in sorted(Path(job["folder"]).glob("*/adapter_config.json"))]
        elif job["name"] in found:
            last = sorted(Path(job["directory"]).glob("checkpoints/step-*[0-9]/adapter_config.json"))[-1:]
            after = found[job["name"]]["after"]
            learned += [(after["gflops"]["value"] if after else 0.0, job["name"], path.parent) for path in last]
    return made + [(name, folder) for _, name, folder in sorted(learned, key=lambda one: -one[0])]


def adapter(folder: Path) -> dict[str, bytes]:
    """An adapter's files, its numbers rounded to bf16."""
    return {
        "adapter_config.json": (folder / "adapter_config.json").read_bytes(),
        "adapter_model.safetensors": halved((folder / "adapter_model.safetensors").read_bytes()),
    }


def halved(data: bytes) -> bytes:
    """A safetensors file with its f32 as bf16, rounded to the nearest even; its notes stay."""
    length = struct.unpack("<Q", data[:8])[0]
    head, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    if any(tensor["dtype"] != "F32" for name, tensor in head.items() if name != "__metadata__"):
        return data
    words = array.array("I")
    words.frombytes(body)
    halves = array.array("H", [(word + 0x7FFF + ((word >> 16) & 1)) >> 16 for word in words])
    for name, tensor in head.items():
        if name != "__metadata__":
            tensor["dtype"], tensor["data_offsets"] = "BF16", [at // 2 for at in tensor["data_offsets"]]
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + halves.tobytes()
