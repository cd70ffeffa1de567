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
        if "properties" in schema and "additionalProperties" not in schema:
            schema["additionalProperties"] = False
    elif isinstance(schema, list):
        schema = [strict(v) for v in schema]
    return schema


def optional(schema):
    """The schema with nothing required: `--summary` prints the same fields, but not all of them."""
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
                  "--summary": jsonschema.Draft202012Validator(optional(schema))}
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
