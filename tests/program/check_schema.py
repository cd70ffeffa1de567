#!/usr/bin/env python3
"""Validates what `tacho analyze --json` prints against docs/json.schema.json, strictly: a field that the schema
does not know is an error too, so that no field goes undocumented.

usage: check_schema.py TACHO
"""
import json
import os
import pathlib
import subprocess
import sys

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from corpus import corpus  # noqa: E402


def strict(schema):
    """The schema with unknown fields forbidden wherever it lists fields."""
    if isinstance(schema, dict):
        schema = {k: strict(v) for k, v in schema.items()}
        if "properties" in schema and schema.get("additionalProperties", True) is True:
            schema["additionalProperties"] = False
    elif isinstance(schema, list):
        schema = [strict(v) for v in schema]
    return schema


def of_summary(schema):
    """The schema of `--summary`: fewer of the same fields, and those that docs/json.md lists under its name."""
    schema = optional(schema)
    schema["properties"].update(summary={"const": True}, incomplete={"type": "array", "items": {"type": "string"}})
    trace = schema["properties"]["traces"]["items"]["properties"]
    whole = {"type": "integer"}
    trace["devices"]["items"]["properties"]["gpu_sum_ns"] = whole
    trace["ops"]["items"]["properties"].update(min_ns=whole, max_ns=whole)
    row = {"name": {"type": "string"}, **dict.fromkeys(["count", "total_ns", "min_ns", "max_ns"], whole)}
    trace["gpu_work"] = {"type": "array", "items": {"type": "object", "properties": row, "additionalProperties": False}}
    return schema


def optional(schema):
    """The schema with nothing required."""
    if isinstance(schema, dict):
        return {k: optional(v) for k, v in schema.items() if k != "required" or not isinstance(v, list)}
    return [optional(v) for v in schema] if isinstance(schema, list) else schema


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tacho = os.path.abspath(sys.argv[1])
    schema = strict(json.loads((ROOT / "docs/json.schema.json").read_text()))
    jsonschema.Draft202012Validator.check_schema(schema)
    validators = {"": jsonschema.Draft202012Validator(schema),
                  "--summary": jsonschema.Draft202012Validator(of_summary(schema))}
    data = ROOT / "tests/data"
    inputs = [*sorted(data.rglob("*.json.gz")), data / "vllm-cpu/tp2"]
    if real := corpus("the schema against real traces"):
        inputs += [p for p in sorted(real.rglob("*")) if p.name.endswith((".json.gz", ".tar.gz", ".tmp"))
                   and p.stat().st_size < 2_000_000]
    passed = failed = 0
    for path in inputs:
        for mode, validator in validators.items():
            done = subprocess.run([tacho, "analyze", "--json", *([mode] if mode else []), str(path)], capture_output=True, timeout=120)
            errors = [e.message[:200] for e in validator.iter_errors(json.loads(done.stdout))]
            if errors:
                failed += 1
                print(f"{path.name} {mode}: {errors[:3]}")
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
