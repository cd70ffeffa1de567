#!/usr/bin/env python3
"""Compares a server's answers with the recorded answers of a real one: sends the same requests, compares the shapes of the answers.

  check.py --server URL --expect vllm-0.32.json [--trace-dir D]      compare; prints each difference
  check.py --server URL --set vllm [--trace-dir D] [--record FILE]   print (or record) the answers of a set

The requests are in requests.json, in the order in which they are sent; a set leaves the server as it was. D is where the server
writes its traces, as seen from here; without it, requests that need a trace are left out. Python 3.11, standard library.
Exit status: 0 the same, 1 differences, 2 usage, 6 the server cannot be reached.
"""
import argparse
import gzip
import http.client
import json
import sys
import time
import urllib.parse
from pathlib import Path

import shapes

HERE = Path(__file__).resolve().parent
HEADERS = ("content-type", "allow", "location", "x-request-id", "x-smg-error-code")
ARBITRARY = ("x-request-id",)  # only its presence counts


class Unreachable(Exception):
    pass


def send(server, request, timeout=300):
    url = urllib.parse.urlsplit(server)
    connection = http.client.HTTPConnection(url.hostname, url.port or 80, timeout=timeout)
    body, headers = request.get("text"), dict(request.get("headers", {}))
    if "body" in request:
        body = json.dumps(request["body"])
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
    try:
        connection.request(request.get("method", "GET"), request["path"], body, headers)
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode("utf-8", "replace")
    except ConnectionRefusedError as e:
        raise Unreachable(f"{server}: {e}") from e
    finally:
        connection.close()


def body_shape(request, kind, text):
    if "metrics" in request:
        return shapes.metrics(text, request["metrics"])
    if kind.startswith("text/event-stream"):
        return shapes.events(text)
    try:
        value = json.loads(text)
    except ValueError:
        return "=" + shapes.cut(text)
    if "select" in request:
        value = shapes.select(value, request["select"])
    return shapes.shape(value)


def new_trace(folder, known, pattern, seconds):
    """The new trace in `folder`, once it has stopped growing; None without one."""
    until = time.monotonic() + seconds
    size = -1
    while time.monotonic() < until:
        new = [f for f in folder.rglob(pattern) if f.name.endswith((".trace.json", ".trace.json.gz")) and f not in known]
        if new and new[0].stat().st_size == size > 0:
            return new[0]
        size = new[0].stat().st_size if new else -1
        time.sleep(0.5)
    return None


def traces_in(folder):
    return set(folder.rglob("*")) if folder else set()


def answer_to(server, request, folder, known):
    """The shape of the answer to one request. `known`: the files that existed when the set began."""
    if request.get("trace"):
        file = new_trace(folder, known, request.get("file", "*"), request["trace"])
        if file is None:
            return "no trace"
        raw = file.read_bytes()
        document = json.loads(gzip.decompress(raw) if file.suffix == ".gz" else raw)
        known.add(file)
        return shapes.trace(document, file.name)
    try:
        status, headers, text = send(server, request)
    except (OSError, http.client.HTTPException) as e:
        return f"no answer: {type(e).__name__}"
    found = {h: "string" if h in ARBITRARY else shapes.cut(headers[h]) for h in HEADERS if h in headers}
    return {"status": status, "headers": found, "body": body_shape(request, headers.get("content-type", ""), text)}


def worker_of(server):
    """The first worker of a router, by its URL and its id."""
    try:
        workers = json.loads(send(server, {"path": "/workers"})[2])["workers"]
        return min((w["url"], w.get("id", "")) for w in workers)
    except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
        return "http://127.0.0.1:1", "none"


def ask_all(server, requests, folder):
    """{name: shape of the answer} for each request of a set."""
    known, answers, fill = traces_in(folder), {}, {}
    if "{worker" in json.dumps(requests):
        url, number = worker_of(server)
        fill = {"{worker}": url, "{worker_quoted}": urllib.parse.quote(url, safe=""), "{worker_id}": number}
    if folder:
        fill["{trace_dir}"] = str(folder)
    for request in requests:
        text = json.dumps(request)
        for key, value in fill.items():
            text = text.replace(key, value)
        if "{trace_dir}" in text or (request.get("trace") and not folder):
            continue
        for _ in range(request.get("times", 1)):
            answer = answer_to(server, json.loads(text), folder, known)
            answers.setdefault(request["name"], []).append(answer)
        time.sleep(request.get("pause", 0))
    return {name: found[0] if len(found) == 1 else found for name, found in answers.items()}


def differences(expected, found, at=""):
    """Each place where two shapes differ, as text."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(expected.keys() | found.keys()):
            place = f"{at}/{key}"
            if key not in found:
                yield f"{place}: missing; expected {json.dumps(expected[key])}"
            elif key not in expected:
                yield f"{place}: not expected: {json.dumps(found[key])}"
            else:
                yield from differences(expected[key], found[key], place)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for i, (e, f) in enumerate(zip(expected, found)):
            yield from differences(e, f, f"{at}[{i}]")
    elif expected != found:
        yield f"{at}: expected {json.dumps(expected)}, found {json.dumps(found)}"


def compare(expected, found, requests):
    """Prints each difference and the totals; returns how many answers differ."""
    wrong = 0
    for name, answer in found.items():
        lines = list(differences(expected.get(name, "nothing recorded"), answer))
        wrong += bool(lines)
        for line in lines:
            print(f"{name}{line}")
    left_out = sorted({r["name"] for r in requests} - set(found))
    print(f"{len(found) - wrong} answers as expected, {wrong} different" +
          (f", {len(left_out)} left out for want of --trace-dir: {', '.join(left_out)}" if left_out else ""))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, metavar="URL")
    parser.add_argument("--expect", type=Path, metavar="FILE", help="recorded answers to compare with")
    parser.add_argument("--set", metavar="NAME", help="the set of requests (default: the one of FILE)")
    parser.add_argument("--trace-dir", type=Path, metavar="D", help="where the server's traces come to lie")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the answers into FILE")
    parser.add_argument("--of", default="", metavar="TEXT", help="with --record: what was asked, its versions and options")
    options = parser.parse_args()
    expected = json.loads(options.expect.read_text()) if options.expect else None
    name = options.set or (expected and expected["set"])
    sets = json.loads((HERE / "requests.json").read_text())
    if name not in sets:
        parser.error(f"name a set with --set ({', '.join(sets)}) or recorded answers with --expect")
    try:
        send(options.server, {"path": "/"})
        found = ask_all(options.server, sets[name], options.trace_dir and options.trace_dir.absolute())
    except (OSError, http.client.HTTPException, Unreachable) as e:
        print(f"check.py: {e}", file=sys.stderr)
        return 6
    if options.record:
        answers = ",\n".join(f"  {json.dumps(key)}: {json.dumps(answer, sort_keys=True)}" for key, answer in found.items())
        options.record.write_text(f'{{\n "set": {json.dumps(name)},\n "of": {json.dumps(options.of)},\n "answers": {{\n{answers}\n }}\n}}\n')
    if not expected:
        if not options.record:
            print(json.dumps(found, indent=1))
        return 0
    return 1 if compare(expected["answers"], found, sets[name]) else 0


if __name__ == "__main__":
    sys.exit(main())
