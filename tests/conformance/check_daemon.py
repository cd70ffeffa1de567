#!/usr/bin/env python3
"""Compares what `tacho simulate` sends to Kineto's daemon with what real processes sent: check_daemon.py TACHO

  check_daemon.py --record FOLDER --of TEXT    writes kineto-daemon.json from the processes that ask in FOLDER

Listens as the daemon does on a socket of its own, lets all processes take one trace, and compares what they sent, when,
and what they left, with the recording of a vLLM of two ranks. Exit status: 0 the same, 1 differences.
"""
import json
import os
import re
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
import processes  # noqa: E402

RECORDED = Path(__file__).resolve().parent / "kineto-daemon.json"
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
LISTEN_S, TELL_S, LEAD_S, WINDOW_MS = 24, 7, 8, 1500
MOST_S = 120  # a busy machine writes the files later


def name_of(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "gone"


def listen(folder):
    """Answers every process in `folder` until each has left a file, and lets each take one trace. Returns the datagrams."""
    heard, told = [], set()
    daemon = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    daemon.bind(f"{folder}/dynolog")
    daemon.settimeout(0.2)
    began = time.time()
    config = (f"ACTIVITIES_LOG_FILE={folder}/x.json\nPROFILE_START_TIME={int((began + TELL_S + LEAD_S) * 1000)}\n"
              f"ACTIVITIES_WARMUP_PERIOD_SECS=1\nACTIVITIES_DURATION_MSECS={WINDOW_MS}\n").encode()
    while time.time() - began < (MOST_S if len(list(Path(folder).glob("x_*.json"))) < len(told) or not told else LISTEN_S):
        try:
            datagram, sender = daemon.recvfrom(65536)
        except TimeoutError:
            continue
        answered = True
        size, kind = struct.unpack_from("<Q32s", datagram)
        kind = kind.rstrip(b"\0").decode()
        message = {"at": time.time() - began, "from": os.path.basename(sender), "type": kind, "size_is_payload": size == len(datagram) - 40}
        answer = b""
        if kind == "req":
            state, count, job = struct.unpack_from("<iiq", datagram, 40)
            pids = struct.unpack_from(f"<{count}i", datagram, 56)
            message.update(state=state, job=job, pids=pids, names=[name_of(p) for p in pids], rest=len(datagram) - 56 - 4 * count)
            if message["at"] > TELL_S and pids[0] not in told:
                answer = config
        elif kind == "ctxt":
            message["context"] = struct.unpack_from("<iiq", datagram, 40)
            answer = struct.pack("<i", 1)
        try:
            daemon.sendto(struct.pack("<Q32s", len(answer), kind.encode()) + answer, sender)
        except OSError as problem:  # a process without room for it asks again; one that has ended does not
            print(f"no answer to {message['from']}: {problem}", flush=True)
            answered = False
        if answered and kind == "req" and answer:
            told.add(pids[0])
        heard.append(message)
    daemon.close()
    os.unlink(f"{folder}/dynolog")
    return heard


def check_lives(simulator):
    if simulator.poll() is not None:
        raise RuntimeError(f"the simulator ended with {simulator.returncode}")


def of_file(path):
    trace = json.loads(path.read_text())
    return {"keys": [k for k in trace if k != "traceEvents"],
            "events": [[e["ph"], e["name"], sorted(e.get("args", {}))] for e in trace["traceEvents"]]}


def summary(folder, heard):
    """The part that must be the same for all engines of this kind."""
    asked = [m for m in heard if m["type"] == "req"]
    pids = sorted({m["pids"][0] for m in asked})
    root = min(pids, key=lambda p: len(next(m["pids"] for m in asked if m["pids"][0] == p)))
    processes, periods = [], []
    for pid in pids:
        own = [m for m in asked if m["pids"][0] == pid]
        chain = own[-1]["pids"][:own[-1]["pids"].index(root)]
        processes.append([own[-1]["names"][i] for i in range(len(chain))] + ["server"])
        times = [m["at"] for m in own]
        periods += [b - a for a, b in zip(times, times[1:])]
    without_events = next(m["pids"][0] for m in reversed(asked) if m["names"][0] == "VLLM::EngineCor")
    return {
        "endpoint is a name with a version 4 UUID": all(re.fullmatch("dynoconfigclient" + UUID, m["from"]) for m in heard),
        "size field is the payload's": all(m["size_is_payload"] for m in heard),
        "bytes behind the process numbers": sorted({m["rest"] for m in asked}),
        "processes, each with its ancestors": sorted(processes),
        "jobs": sorted({m["job"] for m in asked}),
        "states": sorted({m["state"] for m in asked}),
        "one name a process": len({(m["from"], m["pids"][0]) for m in asked}) == len(pids),
        # A busy machine makes some late.
        "seconds between questions": round(statistics.median(periods)),
        "none comes early": min(periods) > 4.5,
        "every process left x_PID.json": sorted(f.name for f in folder.glob("x*")) == sorted(f"x_{p}.json" for p in pids),
        "file of a process without events": of_file(folder / f"x_{without_events}.json"),
    }


def main():
    if sys.argv[1] == "--record":
        folder = Path(sys.argv[2])
        found = {"of": sys.argv[4], **summary(folder, listen(folder))}
        RECORDED.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    expected = json.loads(RECORDED.read_text())
    print(f"== {expected.pop('of')}")
    with tempfile.TemporaryDirectory(prefix="tacho-daemon-") as name:
        environment = {**os.environ, "KINETO_USE_DAEMON": "1", "KINETO_IPC_SOCKET_DIR": name}
        # It begins once the daemon listens.
        with processes.running(["sh", "-c", 'sleep 0.5; exec "$0" "$@"', sys.argv[1], "simulate", "--tp", "2", "--model-size",
                               "tiny", "--trace-dir", name + "/t"], stdout=subprocess.DEVNULL, env=environment) as simulator:
            heard = listen(Path(name))
            check_lives(simulator)
            if not heard:
                raise processes.Overdue(f"waited {MOST_S} s for a process that asks")
            found = summary(Path(name), heard)
    # Sent by processes that use a GPU, which the recorded ones do not: IpcFabricConfigClient::registerInstance.
    expected["GPUs told of"] = [0, 1]
    found["GPUs told of"] = sorted(m["context"][0] for m in heard if m["type"] == "ctxt")
    wrong = [key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key)]
    for key in wrong:
        print(f"{key}: expected {json.dumps(expected.get(key))}, found {json.dumps(found.get(key))}")
    print(f"{len(expected) - len(wrong)} facts as expected, {len(wrong)} different")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
