#!/usr/bin/env python3
"""Signals, and stops, while tacho launches an engine: each ends it soon, and nothing of it is left.

usage: check_launch_ends.py TACHO [--only NAME ...]

The engine is the script of fake_engine.py.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import scenario
from fake_engine import engine_in, fakes, launch, nothing_left, processes_of, server_in
from processes import PATIENCE_S, running
from scenario import check, main, run, wait_for


def while_starting(folder):
    os.environ["FAKE_DELAY"] = "100"
    for what in ("interrupted", "tacho killed"):
        with running(launch(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            check(f"{what}: starts", wait_for(lambda: engine_starts(folder), 60), processes_of(folder))
            begin = time.monotonic()
            process.send_signal(signal.SIGINT if what == "interrupted" else signal.SIGKILL)
            status = process.wait(60)
            check(f"{what}: status", status == (130 if what == "interrupted" else -9), status)
            check(f"{what}: soon", time.monotonic() - begin < 15)
        nothing_left(f"starting, {what}", folder)
    late = run(*launch(folder, "--ready-within", "1s")[1:])
    check("too slow", late.returncode == 6 and "was not ready in time (--ready-within): connection refused" in late.stderr, late.stderr)
    nothing_left("too slow", folder)
    del os.environ["FAKE_DELAY"]


def engine_starts(at):
    """Whether the engine is at its FAKE_DELAY."""
    return any(command.startswith("sleep 100 ") for command in processes_of(at))


def while_proven(folder):
    """Ctrl-C while the ready engine is asked for its routes."""
    with fakes(FAKE_SERVER=server_in(folder), FAKE_SLOW="1000"):
        for more in ((), ("--detach",)):
            with running(launch(folder, *more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                def asked():
                    return any(line != "asked /health" for log in pathlib.Path(folder).glob("tacho-launch*/logs/vllm.log")
                               for line in log.read_text().splitlines() if line.startswith("asked"))
                check(f"proven {more}: asks", wait_for(asked, 60))
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=PATIENCE_S)
                check(f"proven {more}: status", process.returncode == 130, (process.returncode, err))
                check(f"proven {more}: says nothing else", out == "" and "goes on" not in err and "holding" not in err, out + err)
            nothing_left(f"proven {more}", folder)
            for path in pathlib.Path(folder).glob("tacho-launch*"):
                shutil.rmtree(path)


def while_blocked(folder):
    """Signals end what waits for a full pipe, or for a key that nobody writes."""
    fifo = f"{folder}/key"
    os.mkfifo(fifo)
    record = [scenario.TACHO, "record", "--launch", "vllm", "--python", engine_in(folder), "--out", folder, "--api-key-file", fifo, "--", "m"]
    for what, command, full in (("stdout of a dry run", launch(folder, "--dry-run"), "stdout"),
                                ("stderr of a dry run", launch(folder, "--dry-run", "--preset", "deep"), "stderr"),
                                ("stderr of a launch", launch(folder, "--preset", "deep"), "stderr"), ("a key", record, None)):
        ours, theirs = os.pipe()
        os.set_blocking(theirs, False)
        with contextlib.suppress(BlockingIOError):
            while os.write(theirs, b"x" * 4096):
                pass
        os.set_blocking(theirs, True)
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **({full: theirs} if full else {})}
        with running(command, **pipes) as process:
            time.sleep(2)  # until it blocks; an earlier signal proves nothing
            check(f"{what}: it blocks", process.poll() is None)
            ended = wait_for(lambda: process.poll() is not None or process.send_signal(signal.SIGINT), 30, pause=0.5)
            check(f"{what}: a signal ends it", ended)
            if not ended:
                process.kill()
        os.close(ours)
        os.close(theirs)
        nothing_left(what, folder)


def stopped_and_launched_again(folder):
    """A stop of two waits for the first; the second, ended by then, is launched again meanwhile: that one stays known."""
    with fakes(FAKE_DEAF="1"):
        check("again: the deaf one", run(*launch(folder, "--detach", "-q", "--name", "deaf")[1:]).returncode == 0)
    check("again: the other", run(*launch(folder, "--detach", "-q", "--name", "other")[1:]).returncode == 0)

    def names():
        return [one["name"] for one in json.loads(run("launch", "list", "--json").stdout)["launches"]]
    with running([scenario.TACHO, "launch", "stop", "deaf", "other"], stderr=subprocess.PIPE, text=True) as stop:
        check("again: one is still ending", wait_for(lambda: names() == ["deaf"], 15), names())
        check("again: launched", run(*launch(folder, "--detach", "-q", "--name", "other")[1:]).returncode == 0)
        check("again: stop", stop.wait(PATIENCE_S) == 0)
    check("again: it is known", names() == ["other"], names())
    check("again: can be stopped", run("launch", "stop", "other").returncode == 0)
    nothing_left("again", folder)


def at_any_moment(folder):
    """Ctrl-C at moments from tacho's first to the engine's: each ends tacho, and nothing is left, no folder either."""
    os.environ["FAKE_DELAY"] = "100"
    moments, span_s = 24, 0
    for i in range(-1, moments):  # the first one measures how long a start takes
        begin = time.monotonic()
        with running(launch(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            if i >= 0:
                time.sleep(span_s * i / moments)
            else:
                check("any moment: starts", wait_for(lambda: engine_starts(folder), 60), processes_of(folder))
                span_s = 1.2 * (time.monotonic() - begin)
            process.send_signal(signal.SIGINT)
            status = process.wait(60)
            # Before tacho has anything to end, the signal itself ends it.
            check(f"any moment: {i} of {moments}", status in (130, -signal.SIGINT), status)
        check(f"any moment: {i} of {moments}, nothing left", wait_for(lambda: not processes_of(folder), 60), processes_of(folder))
        left = [file for path in pathlib.Path(folder).glob("tacho-launch*") for file in (path, *path.rglob("*"))]
        check(f"any moment: {i} of {moments}, no folder", not left, left)
    check("any moment: not known", json.loads(run("launch", "list", "--json").stdout)["launches"] == [])
    del os.environ["FAKE_DELAY"]


def while_asked(folder):
    """Ctrl-C while the engine's Python is asked for its version: nothing of it is left."""
    os.environ["FAKE_ASKED"] = "100"
    record = [scenario.TACHO, "record", "--launch", "vllm", "--python", engine_in(folder), "--out", folder, "--", "m"]
    for what, command in (("launch", launch(folder)), ("record", record)):
        with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            check(f"asked, {what}: asks", wait_for(lambda: len(processes_of(folder)) >= 2, 30), processes_of(folder))
            process.send_signal(signal.SIGINT)
            status = process.wait(60)
            check(f"asked, {what}: status", status == 130, status)
            check(f"asked, {what}: says so", "nothing is started" in process.stderr.read())
        nothing_left(f"asked, {what}", folder)
        check(f"asked, {what}: no folder", not list(pathlib.Path(folder).glob("tacho-launch*")), list(pathlib.Path(folder).iterdir()))
    del os.environ["FAKE_ASKED"]


if __name__ == "__main__":
    main([while_starting, while_proven, while_blocked, stopped_and_launched_again, at_any_moment, while_asked], __doc__)
