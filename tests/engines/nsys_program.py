"""A program with NVTX ranges, named as vLLM names its steps: nsys_program.py FILE writes a line for each to FILE, in ns of
CLOCK_MONOTONIC: its name, when it began and when it had ended."""
import sys
import time

import nvtx


def main():
    with open(sys.argv[1], "w", buffering=1) as told:
        for number in range(1_000_000):
            name = "execute_context_1(64)_generation_3(3)" if number % 4 == 0 else "execute_context_0(0)_generation_4(4)"
            begin = time.monotonic_ns()
            with nvtx.annotate(name):
                with nvtx.annotate("forward"):
                    time.sleep(0.004)
            told.write(f"{name} {begin} {time.monotonic_ns()}\n")


main()
