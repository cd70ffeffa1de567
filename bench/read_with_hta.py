"""Rival: Holistic Trace Analysis, its own way from a trace file to a table.

Runs in the environment that bench/run makes. Prints one line of JSON as read_with_json.py does;
HTA drops flows and metadata, so its events are fewer.
"""

import json
import logging
import os
import sys
import time

logging.disable(logging.CRITICAL)

from hta.common.trace_parser import parse_trace_dataframe  # noqa: E402
from hta.configs.parser_config import ParserConfig  # noqa: E402

path = sys.argv[1]
begin = time.perf_counter()
_, events, _ = parse_trace_dataframe(path, ParserConfig.get_default_cfg())
seconds = time.perf_counter() - begin
print(json.dumps({"bytes": os.path.getsize(path), "events": len(events), "read_s": seconds}),
      flush=True)
os._exit(0)
