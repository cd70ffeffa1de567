#!/usr/bin/env python3
"""`tacho record` against real engines on the CPU: vLLM, SGLang and their routers, held by tools/engines.

  check_engines.py [short|whole] [--tacho build/release/tacho]     one line a scenario, then "N passed, N failed"
  check_engines.py --only NAME ...                                 these scenarios; --list names them

short is one vLLM behind its router and one SGLang; whole is everything. Exit status: 0 all passed, 1 some failed,
77 the engines cannot be installed here (said loudly), so nothing was tried. Python 3.11, standard library only.
"""
import argparse
import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import groupby
from pathlib import Path

import doctor_scenarios
import launch_scenarios
import mfu_scenarios
import sglang_scenarios
import vllm_scenarios
from frame import ENGINES, ROOT, Engines, Failed, Skipped, Tacho

SCENARIOS = (vllm_scenarios.SCENARIOS + sglang_scenarios.SCENARIOS + launch_scenarios.SCENARIOS + mfu_scenarios.SCENARIOS
             + doctor_scenarios.SCENARIOS)
SHORT = ("vllm_behind_router", "sglang_by_steps")
SKIP = 77


class Score:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def run(self, name, scenario):
        """Runs one scenario and prints its line; true if it passed."""
        began = time.monotonic()
        try:
            scenario()
        except Skipped as e:
            print(f"skipped {name}: {e}", flush=True)
            self.skipped += 1
            return True
        except Exception as e:  # whatever goes wrong is this scenario's failure; the next one is tried
            kind = "" if isinstance(e, Failed) else f"{type(e).__name__}: "
            print(f"FAILED {name}: {kind}{e}", flush=True)
            self.failed += 1
            return False
        print(f"ok {name} ({time.monotonic() - began:.0f} s)", flush=True)
        self.passed += 1
        return True


def run_setup(setup, scenarios, program, work, score):
    """Starts the engines of a setup and runs its scenarios on them."""
    work.mkdir()
    try:
        began = time.monotonic()
        with Engines(setup, work) if setup.arguments else contextlib.nullcontext() as engines:
            print(f"-- tools/engines run {' '.join(setup.arguments)}: ready after {time.monotonic() - began:.0f} s", flush=True)
            for scenario in scenarios:
                folder = work / scenario.__name__
                folder.mkdir()
                if score.run(scenario.__name__, lambda: scenario(engines, Tacho(program, folder))):
                    shutil.rmtree(folder)
    except (Failed, Skipped, OSError, ValueError, subprocess.TimeoutExpired) as e:
        def tell():
            raise e
        score.run("engines " + " ".join(setup.arguments), tell)


def install():
    """Whether the engines are there; says loudly if not."""
    done = subprocess.run([sys.executable, ENGINES, "install", "all"])
    if done.returncode == 0:
        return True
    print(f"""
**********************************************************************
** NOT RUN: the real engines cannot be installed here (exit {done.returncode}, see above).
** No claim about vLLM, SGLang or their routers was tested.
**********************************************************************""", flush=True)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", nargs="?", choices=["short", "whole"], default="short")
    parser.add_argument("--tacho", default=ROOT / "build/release/tacho", type=Path, metavar="FILE")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="just these scenarios")
    parser.add_argument("--list", action="store_true", help="name the scenarios and what they run on")
    options = parser.parse_args()
    names = options.only or (SHORT if options.set == "short" else [s.__name__ for _, s in SCENARIOS])
    unknown = set(names) - {s.__name__ for _, s in SCENARIOS}
    if unknown:
        parser.error(f"no scenario is called {', '.join(sorted(unknown))}; see --list")
    chosen = [(setup, s) for setup, s in SCENARIOS if s.__name__ in names]
    if options.list:
        for setup, s in SCENARIOS:
            print(f"{s.__name__:26} {' '.join(setup.arguments):28}{' short' if s.__name__ in SHORT else ''}")
        return 0
    if not options.tacho.exists():
        parser.error(f"{options.tacho} is not there: build it, or name another with --tacho")
    if not install():
        return SKIP
    score = Score()
    work = Path(tempfile.mkdtemp(prefix="tacho-engines-test-"))
    for number, (setup, group) in enumerate(groupby(chosen, key=lambda pair: pair[0])):
        run_setup(setup, [s for _, s in group], options.tacho, work / f"setup{number}", score)
    if score.failed:
        print(f"what the failed ones left is in {work}")
    else:
        shutil.rmtree(work)
    print(f"{score.passed} passed, {score.failed} failed" + (f", {score.skipped} skipped" if score.skipped else ""))
    return 1 if score.failed else 0


if __name__ == "__main__":
    sys.exit(main())
