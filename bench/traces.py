"""The traces that are measured: generated once, kept, and packed as torch packs them."""

import dataclasses
import gzip
import hashlib
import os
import re
import shutil
import subprocess

BENCH = os.path.dirname(os.path.abspath(__file__))
GENERATOR_SOURCES = ("generate_trace.cc", "trace_options.h", "trace_envelope.cc", "trace_envelope.h",
                     "trace_events.cc", "trace_events.h", "step_model.cc", "step_model.h",
                     "trace_shape.h", "call_trees.cc", "device_shapes.cc", "op_shapes.cc",
                     "trace_writer.h", "../src/simulate/trace/kineto_text.cc", "../src/base/random.h")
UNITS = {"k": 10**3, "m": 10**6, "g": 10**9}
PACKED_SHARE = 0.06  # a packed trace needs a twentieth of the room; a little more to be safe
CHUNK = 1 << 22
GENERATED_NAME = re.compile(r"\d+[kmg]-[abn]\.json(\.gz)?")
RANKS = 8  # of the job that is analysed as a folder
ONE_RANK = (b'"rank": 0, "world_size": 1', b'"pg_size": 1, "ranks": [0]')


@dataclasses.dataclass(frozen=True)
class Kind:
    """A way of generating: layout a or b, with or without Python frames and shapes."""

    suffix: str
    layout: str
    stack: int
    shapes: int
    text: str


KINDS = {
    "a": Kind("a", "a", 1, 1, "several keys on a line, Python frames, shapes"),
    "b": Kind("b", "b", 1, 1, "one key on a line, Python frames, shapes"),
    "n": Kind("n", "a", 0, 0, "several keys on a line, neither frames nor shapes"),
}


@dataclasses.dataclass
class TraceFile:
    """A trace in one form: plain or packed."""

    name: str  # of the trace, the same for its forms
    form: str  # ".json" or ".json.gz"
    path: str
    json_bytes: int  # 0 when not known before somebody has read it
    text: str


def parse_size(text):
    """100m, 1g or 4g to bytes."""
    number, unit = text[:-1], text[-1:].lower()
    if unit not in UNITS or not number.isdigit() or int(number) == 0:
        raise ValueError(f"'{text}' is no size; write 100m, 1g or the like")
    return int(number) * UNITS[unit]


def kinds_for(size_bytes):
    """All kinds for small traces; one for large ones, which differ in size only."""
    return list(KINDS.values()) if size_bytes < 500 * UNITS["m"] else [KINDS["a"]]


def prepare(sizes, data, generator, say):
    """Generates and packs what is not there yet. Returns the TraceFiles of all sizes."""
    os.makedirs(data, exist_ok=True)
    _drop_outdated(data, say)
    wanted = [(size, kind) for size in sizes for kind in kinds_for(parse_size(size))]
    _check_room(wanted, data)
    files = []
    for size, kind in wanted:
        name = f"{size}-{kind.suffix}"
        plain = os.path.join(data, f"{name}.json")
        if not os.path.exists(plain):
            say(f"generating {name}.json")
            _generate(generator, parse_size(size), kind, plain)
        if not os.path.exists(plain + ".gz"):
            say(f"packing {name}.json")
            _pack(plain)
        for form, path in ((".json", plain), (".json.gz", plain + ".gz")):
            files.append(TraceFile(name, form, path, os.path.getsize(plain), kind.text))
    return files


def _drop_outdated(data, say):
    """Traces of another generator are not comparable with those of this one."""
    digest = hashlib.sha256()
    for source in GENERATOR_SOURCES:
        with open(os.path.join(BENCH, source), "rb") as file:
            digest.update(file.read())
    stamp = os.path.join(data, "generator.sha256")
    known = None
    if os.path.exists(stamp):
        with open(stamp, encoding="ascii") as file:
            known = file.read()
    if known == digest.hexdigest():
        return
    for name in os.listdir(data):
        if re.fullmatch(r"\d+[kmg]-a-ranks", name):
            shutil.rmtree(os.path.join(data, name))
        if GENERATED_NAME.fullmatch(name):
            say(f"dropping {name}: the generator has changed")
            os.remove(os.path.join(data, name))
    with open(stamp, "w", encoding="ascii") as file:
        file.write(digest.hexdigest())


def _check_room(wanted, data):
    need = 0
    for size, kind in wanted:
        plain = os.path.join(data, f"{size}-{kind.suffix}.json")
        need += 0 if os.path.exists(plain) else parse_size(size)
        need += 0 if os.path.exists(plain + ".gz") else int(parse_size(size) * PACKED_SHARE)
    free = shutil.disk_usage(data).free
    if need * 1.1 > free:
        raise OSError(f"{need / 1e9:.1f} GB are needed in {data}, {free / 1e9:.1f} GB are free; "
                      "ask for fewer --sizes or another --data")


def _generate(generator, size_bytes, kind, path):
    if generator is None:
        raise OSError(f"bench/generate_trace is not built, so {os.path.basename(path)} "
                      "cannot be made")
    beside = path + ".part"
    subprocess.run([generator, "--bytes", str(size_bytes), "--layout", kind.layout,
                    "--stack", str(kind.stack), "--shapes", str(kind.shapes),
                    "--output", beside], check=True)
    os.replace(beside, path)


def _pack(path):
    beside = path + ".gz.part"
    with open(path, "rb") as plain, open(beside, "wb") as file:
        # As torch does it: the gzip module's highest level, one member.
        with gzip.GzipFile("", "wb", compresslevel=9, fileobj=file, mtime=0) as packed:
            shutil.copyfileobj(plain, packed, CHUNK)
    os.replace(beside, path + ".gz")


def ranks_of(size, data, say):
    """A folder with the packed trace of a size as RANKS ranks of one job; the trace is there."""
    folder = os.path.join(data, f"{size}-a-ranks")
    if os.path.isdir(folder):
        return folder
    say(f"packing {size}-a as {RANKS} ranks")
    beside = folder + ".part"
    shutil.rmtree(beside, ignore_errors=True)
    os.makedirs(beside)
    with open(os.path.join(data, f"{size}-a.json"), "rb") as plain:
        head = plain.read(1 << 16)
        if not all(head.count(text) == 1 for text in ONE_RANK):
            raise OSError(f"{size}-a.json does not tell its rank at the beginning")
        with gzip.open(os.path.join(beside, "body.gz"), "wb", compresslevel=9) as body:
            shutil.copyfileobj(plain, body, CHUNK)
    for rank in range(RANKS):
        everyone = ", ".join(map(str, range(RANKS))).encode()
        told = head.replace(ONE_RANK[0], b'"rank": %d, "world_size": %d' % (rank, RANKS)) \
            .replace(ONE_RANK[1], b'"pg_size": %d, "ranks": [%s]' % (RANKS, everyone))
        with open(os.path.join(beside, f"rank{rank}.json.gz"), "wb") as file, \
                open(os.path.join(beside, "body.gz"), "rb") as body:
            file.write(gzip.compress(told, 9))
            shutil.copyfileobj(body, file, CHUNK)  # a gzip file may have several members
    os.remove(os.path.join(beside, "body.gz"))
    os.replace(beside, folder)
    return folder


def from_user(path):
    """A trace of the user's own, in the one form that it has."""
    form = ".json.gz" if path.endswith(".gz") else ".json"
    json_bytes = 0 if form == ".json.gz" else os.path.getsize(path)
    return TraceFile(os.path.basename(path).removesuffix(form), form, path, json_bytes, "own trace")


def corpus(folder, smallest=300_000):
    """The larger Kineto traces below a folder, the damaged ones left out."""
    found = []
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(place, name)
            if "broken" in place or not name.endswith((".json", ".json.gz")):
                continue
            if name.endswith(".oracle.json") or os.path.getsize(path) < smallest:
                continue
            found.append(os.path.relpath(path, folder))
    return sorted(found)
