#!/usr/bin/env python3
"""tools/engines without an engine: which cores its servers get, and what its keeper leaves behind.

usage: check_engines_tool.py TACHO [--only NAME ...]
"""
import os
import pathlib
import subprocess
import sys
from unittest import mock

import processes
import scenario
from scenario import check

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from engines_lib import servers  # noqa: E402

# Maps a file of the name that follows, and ends as SGLang does: at SIGTERM, or by itself, without removing it.
MAPS = "import mmap, sys, time; f = open('/dev/shm/' + sys.argv[1], 'a+b'); f.truncate(4096); m = mmap.mmap(f.fileno(), 4096); f.close(); " \
       "print('mapped', file=sys.stderr, flush=True); time.sleep(float(sys.argv[2]))"


def cores(folder):
    """Two servers share the cores; one that is alone has all; there may be fewer cores than servers."""
    def of(available, ranks, count):
        with mock.patch.object(os, "sched_getaffinity", lambda _: set(available)):
            return [servers.cores_for(ranks, i, count) for i in range(count)]
    check("cores: two of two", of([0, 1], 1, 2) == ["0", "1"], of([0, 1], 1, 2))
    check("cores: two ranks each, of eight", of(range(8), 2, 2) == ["0,4|1,5", "2,6|3,7"], of(range(8), 2, 2))
    check("cores: three of two take turns", of([0, 1], 1, 3) == ["0", "1", "0"], of([0, 1], 1, 3))
    check("cores: one of two ranks", of([4, 5], 2, 1) == ["4|5"], of([4, 5], 2, 1))
    with mock.patch.object(os, "sched_getaffinity", lambda _: {0, 1}):
        bound = [servers.vllm_command("python", folder, 1, place=(i, 2))[1]["VLLM_CPU_OMP_THREADS_BIND"] for i in range(2)]
        check("cores: vLLM's variable", bound == ["0", "1"], bound)
        check("cores: a vLLM that is alone chooses", "VLLM_CPU_OMP_THREADS_BIND" not in servers.vllm_command("python", folder, 1)[1])


def shared_memory(folder):
    """What its server had mapped is removed; what was there before, or others have, stays."""
    names = {what: f"tacho-check-{os.getpid()}-{what}" for what in ("own", "ends", "before", "shared")}
    at = {what: pathlib.Path("/dev/shm", name) for what, name in names.items()}
    at["before"].touch()
    try:
        def keep(what):
            return processes.running([sys.executable, str(ROOT / "tools/engines_lib/keeper.py"), "5", sys.executable, "-c", MAPS, names[what],
                                      "8" if what == "ends" else "1000"],
                                     stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for what in names:
            with keep(what) as kept:
                check(f"{what}: it runs", kept.stderr.readline() == "mapped\n")
                with subprocess.Popen([sys.executable, "-c", MAPS, names["shared"], "1000"], stderr=subprocess.PIPE, text=True) as other:
                    check("another has it too", other.stderr.readline() == "mapped\n")
                    if what != "ends":
                        kept.stdin.close()
                    kept.wait(60)
                    check(f"{what}: afterwards", at[what].exists() == (what in ("before", "shared")), list(pathlib.Path("/dev/shm").iterdir()))
                    other.kill()
    finally:
        for path in at.values():
            path.unlink(missing_ok=True)


if __name__ == "__main__":
    scenario.main([cores, shared_memory], __doc__)
