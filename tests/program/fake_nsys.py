#!/usr/bin/env python3
"""A fake `nsys`: launch, sessions list, start, stop, export, shutdown, as nsys 2022.4 answers them, with a QdstrmImporter.

Its state is the folder $FAKE_NSYS: a file SESSION.json for each session, `log` with what it was asked, and `mode` with what goes
wrong, words that fake_nsys.MODES has. Its reports become exports that `tacho simulate trace` ($TACHO) writes, with GPU work, the
pids of the engine and the time of the window.
"""
import glob
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

MODES = {"start-fails", "slow-start", "stop-fails", "slow-stop", "no-report", "grows", "raw", "libssh", "slow-export", "no-export"}
PIECE = b"half of a report\n"


def install(folder, tacho):
    """Puts it into FOLDER/bin with its state in FOLDER/state; gives the environment of programs that should find it."""
    folder = pathlib.Path(folder)
    (folder / "bin").mkdir(parents=True)
    (folder / "state").mkdir()
    shutil.copy(__file__, folder / "bin/nsys")
    (folder / "bin/nsys").chmod(0o755)
    return {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "FAKE_NSYS": f"{folder}/state", "TACHO": str(tacho)}


def state():
    return pathlib.Path(os.environ["FAKE_NSYS"])


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"
    except OSError:
        return False


def mode():
    try:
        return set((state() / "mode").read_text().split())
    except OSError:
        return set()


def write(session):
    path = state() / f"{session['name']}.json"
    path.with_suffix(".new").write_text(json.dumps(session))
    path.with_suffix(".new").rename(path)


def read(name):
    try:
        return json.loads((state() / f"{name}.json").read_text())
    except OSError:
        return None


def value(words, *options):
    for i, word in enumerate(words):
        for option in options:
            if word.startswith(option + "="):
                return word[len(option) + 1:]
            if word == option:
                return words[i + 1]
    return ""


def agent():
    """As nsys's own: leaves its session, ends with SIGTERM alone."""
    while True:
        time.sleep(0.1)


def launch(words):
    name = value(words, "--session-new")
    at = 0
    while words[at].startswith("-"):
        at += 1 if "=" in words[at] else 2
    started = subprocess.Popen([sys.executable, __file__, "--start-agent", f"--session-name={name}"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    write({"name": name, "id": f"10{os.getpid()}", "state": "Launched", "pid": os.getpid(), "agent": started.pid})
    os.environ["NSYS_PROFILING_SESSION_ID"] = f"10{os.getpid()}"
    os.execvp(words[at], words[at:])


def sessions():
    print(f"{'ID':>16} {'TIME':>12} {'state()':>27} LAUNCH NAME")
    for path in sorted(state().glob("*.json")):
        session = json.loads(path.read_text())
        if is_alive(session["pid"]):
            print(f"{session['id']:>16} {'00:02':>12} {session['state']:>27}      1 {session['name']}")


def start(words):
    if "slow-start" in mode():
        time.sleep(2)
    session = read(value(words, "--session"))
    if not session or not is_alive(session["pid"]) or session["state"] != "Launched":
        sys.exit("Configuring is not allowed in this state.")
    if "start-fails" in mode():
        sys.exit("The injection library of the target did not answer.")
    write({**session, "state": "Collection", "report": value(words, "-o"), "begin_ns": time.time_ns()})


def stop(words):
    session = read(value(words, "--session"))
    if not session or session["state"] != "Collection":
        sys.exit("The request is not applicable in this state: StopRequest.")
    modes = mode()
    if "stop-fails" in modes:
        sys.exit("The agent did not answer.")
    dead = not is_alive(session["pid"])
    if "slow-stop" in modes:
        print("\r[1/1] [====   40%", end="", flush=True)
        time.sleep(2)
    ending = ".qdstrm" if modes & {"raw", "libssh"} else ".nsys-rep"
    session["end_ns"] = time.time_ns()
    text = json.dumps(session).encode() + b"\n"
    if "grows" in modes:
        subprocess.Popen([sys.executable, __file__, "--grow", session["report"] + ending, text.decode()], start_new_session=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    elif "no-report" not in modes:
        pathlib.Path(session["report"] + ending).write_bytes(text)
    write({**session, "state": "Launched"})
    if dead:
        sys.exit("The target has ended.")
    if ending == ".qdstrm":
        print("The importer binary and its dependencies were not found.")
    print(f"Generated:\n    {session['report']}{ending}")


def grow(path, text):
    with open(path, "wb", buffering=0) as file:
        for _ in range(8):
            file.write(PIECE)
            time.sleep(0.25)
        file.write(text.encode())


def export(words):
    session = json.loads(pathlib.Path(words[-1]).read_bytes().split(PIECE)[-1])
    if "no-export" in mode():
        sys.exit("Exportation error: Version number is invalid: 2025@5@1@0")
    if "slow-export" in mode():
        print("\rProcessing events: 30%", end="", flush=True)
        time.sleep(4)
    output = value(words, "--output")
    pids = session.get("pids") or [session["pid"]]
    subprocess.run([os.environ["TACHO"], "simulate", "trace", "--format", "nsys", "-o", output + ".d", "--steps", "60", "--ranks",
                    str(len(pids))], check=True, stdout=subprocess.DEVNULL)
    made = glob.glob(output + ".d/*.sqlite")[0]
    with sqlite3.connect(made) as db:
        (last,) = db.execute("SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        # It ends with its session, as a busy engine's does, however long it took to start those of others.
        first = max(session["begin_ns"] + 100_000_000, session.get("end_ns", 0) - last - 100_000_000)
        db.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = ?", (first,))
        columns = [(table, column) for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                   for (_, column, *_) in db.execute(f"PRAGMA table_info({table})").fetchall()]
        old = [pid for (pid,) in db.execute("SELECT pid FROM PROCESSES ORDER BY pid")]
        for before, after in zip(old, pids):
            for table, column in columns:
                if column in ("globalPid", "globalTid"):
                    db.execute(f"UPDATE {table} SET {column} = {column} + ? WHERE ({column} >> 24) & 16777215 = ?",
                               ((after - before) << 24, before))
                if column == "pid":
                    db.execute(f"UPDATE {table} SET pid = ? WHERE pid = ?", (after, before))
    shutil.move(made, output)
    shutil.rmtree(output + ".d")


def shutdown(words):
    session = read(value(words, "--session"))
    for pid in (session["pid"], session["agent"]):
        if is_alive(pid):
            os.kill(pid, signal.SIGTERM)
    (state() / f"{session['name']}.json").unlink()


def importer(words):
    if "libssh" in mode():
        sys.exit("error while loading shared libraries: libssh.so: cannot open shared object file: No such file or directory")
    shutil.copy(value(words, "-i"), value(words, "-o"))


def main(words):
    if sys.argv[0].endswith("QdstrmImporter"):
        return importer(words)
    if words[0] == "--start-agent":
        return agent()
    if words[0] == "--grow":
        return grow(*words[1:])
    if words[0] == "--version":
        return print("NVIDIA Nsight Systems version 2022.4.2.1-df9881f")
    if words[1:2] == ["--help"]:
        return print("\n\t--cpuctxsw=\n\n\t-o, --output=\n\n\t-s, --sample=\n" if words[0] == "start" else "\n\t-t, --trace=\n")
    with open(state() / "log", "a") as log:
        log.write(" ".join(words[:2]) + "\n")
    return {"launch": launch, "sessions": lambda _: sessions(), "start": start, "stop": stop, "export": export,
            "shutdown": shutdown}[words[0]](words[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
