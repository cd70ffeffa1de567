#!/usr/bin/env python3
"""Writes the options of `vllm bench serve` of the installed vLLM (tools/engines install vllm) as JSON: for each name a value
that it accepts, null for a switch. What tests/data/vllm_bench_flags.json was made with:

  python3 tests/data/record_vllm_flags.py > tests/data/vllm_bench_flags.json
"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from engines_lib import bench_serve, environments  # noqa: E402

# For options whose default shows nothing.
VALUES = {"--ramp-up-strategy": "linear", "--lora-modules": "a", "--lora-assignment": "random", "--random-range-ratio": "0.5",
          "--extra-body": "{}", "--chat-template-kwargs": "{}", "--dataset-name": "random", "--backend": "openai",
          "--endpoint": "/v1/completions", "--header": "a=b", "--metadata": "a=b", "--goodput": "ttft:100",
          "--base-url": "http://127.0.0.1:1", "--model": "m", "--served-model-name": "m", "--tokenizer": "t",
          "--tokenizer-mode": "auto", "--percentile-metrics": "ttft", "--metric-percentiles": "99", "--request-rate": "inf",
          "--burstiness": "1.0", "--host": "127.0.0.1", "--port": "1", "--dataset-path": "/dev/null", "--seed": "0",
          "--num-warmups": "0"}
INSIDE = """
import json, sys
import vllm
from vllm.benchmarks import serve
from vllm.utils.argparse_utils import FlexibleArgumentParser
parser = FlexibleArgumentParser()
serve.add_cli_args(parser)
flags = {}
for action in parser._actions:
    for name in action.option_strings:
        if name not in ("-h", "--help"):
            number = isinstance(action.default, (int, float)) and 0 < action.default < 1e9
            flags[name] = None if action.nargs == 0 else VALUES.get(name, str(action.default) if number else "1")
what = "the options of `vllm bench serve` (its parser's own), each with a value that it takes; null: a switch"
print(json.dumps({"what": what, "version": vllm.__version__, "flags": flags}, indent=1))
"""

done = subprocess.run([str(environments.ensure("vllm")), "-c", f"VALUES = {VALUES!r}\n{INSIDE}"], stdout=subprocess.PIPE, check=True,
                      text=True, env={**os.environ, **bench_serve.ENVIRONMENT})
sys.stdout.write(done.stdout[done.stdout.index("{"):])
