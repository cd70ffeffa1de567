#!/usr/bin/env python3
"""A key in every spelling must not be in any file that a command writes, nor in its output; and only named servers get one.

usage: check_keys.py TACHO [--only NAME ...]
"""
import http.server
import json
import os
import pathlib
import secrets
import stat
import threading
import urllib.parse

from scenario import check, main, run, simulation, target

SHORT = ["--duration", "300ms", "--warm-up", "100ms", "--baseline", "0", "--quiet"]
LOAD = ["--requests", "4", "--input-len", "16", "--output-len", "4", "--no-progress"]


class Server:
    """Any server: `answer(path, headers)` gives (status, body, headers) of each answer; `seen` keeps (path, headers)."""

    def __init__(self, answer):
        self.seen = seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def respond(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                seen.append((self.path, headers))
                status, body, more = answer(self.path, headers)
                body = (body if isinstance(body, str) else json.dumps(body)).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **more}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = respond

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def holds(folder, key):
    """The files below it that hold the key, and should not."""
    return [str(p) for p in pathlib.Path(folder).rglob("*") if p.is_file() and p.suffix != ".key" and key.encode() in p.read_bytes()]


def silent(what, key, done, folder):
    text = done.stdout + done.stderr
    at = text.find(key)
    check(f"{what}: prints no key", at < 0, text[max(0, at - 300):at + 300])
    check(f"{what}: writes no key", not holds(folder, key), holds(folder, key))


def spellings(key, folder):
    """(name, options, environment): the ways to give a key to every command."""
    file = pathlib.Path(folder).parent / f"{pathlib.Path(folder).name}.key"
    file.write_text(key + "\n")
    return [("--api-key K", ["--api-key", key], {}), ("--api-key=K", [f"--api-key={key}"], {}),
            ("--api-key-file", ["--api-key-file", str(file)], {}), ("environment", [], {"TACHO_API_KEY": key})]


def load_spellings(key):
    headers = [[f"Authorization=Bearer {key}"], [f"authorization: Bearer {key}"], [f"X-API-Key={key}", f"Cookie: a=1; session={key}"],
               [f"api-key:{key}", "Accept=text/event-stream"]]
    return [("--api_key K", ["--api_key", key], {}), ("--api_key=K", [f"--api_key={key}"], {}),
            ("OPENAI_API_KEY", [], {"OPENAI_API_KEY": key}),
            *((f"--header {h[0].split(key)[0]}", ["--header", *h], {}) for h in headers),
            ("--header=", [f"--header=X-Secret={key}"], {}),
            ("--extra-body", ["--extra-body", json.dumps({"user": key, "nested": [{"key": key}]})], {}),
            ("--extra_body=", [f'--extra_body={{"user" : "{key}"}}'], {}),
            ("--endpoint", ["--endpoint", f"/v1/completions?key={key}"], {}),
            ("query", ["--base-url", "{url}/?key=" + key], {})]


def with_environment(more, *arguments):
    os.environ.update(more)
    try:
        return run(*arguments)
    finally:
        for name in more:
            os.environ.pop(name, None)


def run_folders(place):
    """Only the user may read the commands; the stored command can be run."""
    found = list(pathlib.Path(place).rglob("run.json"))
    check("a run folder", found, place)
    for path in found:
        for name in ("run.json", "commands.sh"):
            mode = stat.S_IMODE((path.parent / name).stat().st_mode)
            check(f"{name} is its owner's", mode == 0o600, oct(mode))
    return [json.loads(path.read_text())["command"] for path in found]


def written(folder):
    """Every command with every spelling: nothing of the key in what is printed or written, the engines' logs included."""
    with simulation(f"{folder}/deployment", "--router", "vllm", "--log", f"{folder}/deployment/log") as addresses:
        url = target(addresses)[0]
        for i in range(4):
            key = "sk-" + secrets.token_hex(8)
            out = pathlib.Path(folder, f"run{i}")
            out.mkdir()
            name, options, environment = spellings(key, out)[i]
            more = ["--send-key-to-workers"] if i % 2 else []
            done = with_environment(environment, "record", url, *SHORT, "--out", str(out), *options, *more)
            check(f"record, {name}", done.returncode == 0, (done.returncode, done.stdout[-1000:], done.stderr))
            silent(f"record, {name}", key, done, folder)
            for command in run_folders(out):
                check(f"record, {name}: the command", command.startswith(f"tacho record {url} --"), command)
                check(f"record, {name}: a variable stands for the key", ('--api-key "$TACHO_API_KEY"' in command) == (i < 2), command)
            done = with_environment(environment, "record", url, *SHORT, "--json", "--no-load", "--out", str(out), *options)
            silent(f"record --json, {name}", key, done, out)
            for action in (["status"], ["list", "--json"], ["status", "--json"], ["start", "--key", f"s{i}"], ["stop", "--json"], ["wake"]):
                done = with_environment(environment, "engine", *action, url, *options, *more)
                silent(f"engine {action[0]}, {name}", key, done, out)


def loads(folder):
    """The same for loads, with all files that they write."""
    with simulation(f"{folder}/deployment", "--log", f"{folder}/deployment/log") as addresses:
        url = target(addresses)[0]
        for i in range(len(load_spellings("key"))):
            key = "sk-" + secrets.token_hex(8)
            out = pathlib.Path(folder, f"load{i}")
            out.mkdir()
            name, options, environment = load_spellings(key)[i]
            options = [o.replace("{url}", url) for o in options]
            urls = [] if name == "query" else [url]
            common = [*urls, *LOAD, *options, "--records", f"{out}/r.jsonl", "--plan", f"{out}/p.json", "--vllm-json", f"{out}/v.json"]
            done = with_environment(environment, "load", *common, "--profile", "--out", str(out))
            check(f"load, {name}", done.returncode == 0, (done.returncode, done.stdout[-1000:], done.stderr))
            silent(f"load --profile, {name}", key, done, folder)
            run_folders(out)
            done = with_environment(environment, "load", *common, "--json", "--save-result", "--save-detailed", "--result-dir", str(out))
            check(f"load --json, {name}", done.returncode == 0, (done.returncode, done.stderr))
            silent(f"load --json, {name}", key, done, folder)


def refused(folder):
    """A server that refuses, and repeats all that it was sent."""
    def echo(_path, headers):
        text = "; ".join(f"{name}: {value}" for name, value in headers.items())
        return 401, {"error": {"message": f"no entry for {text}"}}, {"X-Echo": text, "Server": text}

    def moved(_path, headers):
        return 302, "", {"Location": f"http://127.0.0.1:1/login?token={headers.get('authorization', '').split(' ')[-1]}"}

    for status, answer in ((401, echo), (302, moved)):
        with Server(answer) as server:
            key = "sk-" + secrets.token_hex(8)
            out = pathlib.Path(folder, f"out{status}")
            out.mkdir()
            commands = {"record": ["record", server.url, "--out", str(out)], "record --json": ["record", server.url, "--json", "--out", str(out)],
                        "status": ["engine", "status", server.url], "status --json": ["engine", "status", server.url, "--json"],
                        "start": ["engine", "start", server.url, server.url + "/x"], "load": ["load", server.url, *LOAD],
                        "a load all the same": ["load", server.url, *LOAD, "--model", "m", "--records", f"{out}/r.jsonl", "--vllm-json", f"{out}/v.json",
                                                "--save-result", "--save-detailed", "--result-dir", str(out)],
                        "load --json": ["load", server.url, *LOAD, "--model", "m", "--json"],
                        "load --profile": ["load", server.url, *LOAD, "--model", "m", "--profile", "--out", str(out)]}
            for name, command in commands.items():
                own = ["--api-key", key] + (["--header", f"X-API-Key={key}", f"Cookie: session={key}"] if command[0] == "load" else [])
                done = run(*command, *own)
                check(f"{status}, {name}: fails", done.returncode == 6, (done.returncode, done.stderr))
                silent(f"{status}, {name}", key, done, out)
            check(f"{status}: the key was sent", any(headers.get("authorization") == f"Bearer {key}" for _, headers in server.seen), server.seen[:1])
            done = run("engine", "status", server.url, "--api-key", key)
            if status == 401:
                check("401: says that the key is refused", "refuses the key" in done.stderr, done.stderr)
                check("401: says that a key is wanted", "--api-key-file" in run("load", server.url, *LOAD).stderr, "")


def parts(folder):
    """Values of several parts, with characters that are escaped, and cut within: a server that repeats them, as they are and in JSON."""
    def echo(_path, headers):
        text = "; ".join(f"{name}: {value}" for name, value in headers.items())
        return 401, json.dumps({"sent": headers}) + text + urllib.parse.quote(text), {}

    def plain(_path, headers):
        return 401, {"error": {"message": "." * before + headers["authorization"]}}, {}

    def broken(_path, headers):
        key = headers["authorization"]
        return 401, "refused: " + key[:-20], {"Content-Length": "4000", "Connection": "close"}

    odd = 'pa"rt\\one' + secrets.token_hex(8)
    for name, header, hidden in (("cookies", "Cookie=a=SECRETONE; b=SECRETTWO", ["SECRETONE", "SECRETTWO"]),
                                 ("words", "X-Api-Key=FIRSTPART SECONDPART", ["FIRSTPART", "SECONDPART"]),
                                 ("an odd key", f"X-Api-Key={odd}", [odd[-16:]])):
        with Server(echo) as server:
            repeated(f"{folder}/{name}", server, ["--header", header], hidden)
    key = "sk-" + secrets.token_hex(36)
    inside = [key[i:i + 8] for i in range(0, len(key) - 8)]
    for before in (200, 230, 260, 290):
        with Server(plain) as server:
            repeated(f"{folder}/{before}", server, ["--api-key", key], inside)
    with Server(broken) as server:
        repeated(f"{folder}/broken", server, ["--api-key", key], inside)


def repeated(folder, server, options, hidden):
    """A load that this server refuses: none of `hidden` in what it prints and writes."""
    out = pathlib.Path(folder)
    out.mkdir()
    done = run("load", server.url, *LOAD, "--model", "m", "--json", "--records", f"{out}/r.jsonl", *options)
    check(f"{out.name}: fails", done.returncode == 6 and "401" in done.stdout, (done.returncode, done.stderr))
    for key in hidden:
        silent(f"{out.name}: {key}", key, done, out)


def mistakes(folder):
    """Wrong options, and addresses without a server: no part of a secret in the error."""
    key = "sk-" + secrets.token_hex(8)
    nobody = "127.0.0.1:1"
    keyfile = pathlib.Path(folder, "two-lines.key")
    keyfile.write_text(f"{key}\n{key}\n")
    nul = pathlib.Path(folder, "nul.key")
    nul.write_bytes(key.encode() + b"\0x\n")
    empty = pathlib.Path(folder, "empty.key")
    empty.write_text("\n")
    wrong = [(words, 2) for words in (
        ["load", nobody, "--header", f"Bearer {key}"], ["load", nobody, "--header", f"Bearer {key}=="], ["load", nobody, "--header", f"={key}"],
        ["load", nobody, "--header", f"X-Key={key}\r\nX-Other: 1"], ["load", nobody, "--header", f"X-Key={key}\nX"],
        ["load", nobody, "--header", f"X-{key}\r\n=1"], ["load", nobody, "--header", "Authorization:", "Bearer", key],
        ["load", nobody, "--extra-body", f'{{"user": "{key}"'], ["load", nobody, "--extra-body", key],
        ["load", nobody, "--api-key", f"{key}\r\nX: 1"], ["record", nobody, "--api-key", f"{key}\n"],
        ["engine", "status", nobody, f"--api-key={key}\r"], ["record", nobody, "--api-key-file", str(keyfile)],
        ["load", nobody, "--api-key-file", str(nul)], ["load", nobody, "--api-key-file", str(empty)],
        ["engine", "status", nobody, "--api-key-file", str(keyfile)], ["engine", "status", nobody, "--api-key", key, "--api-key-file", str(keyfile)],
        ["record", nobody, f"--insecure={key}"], ["record", nobody, "--api-keyy", key], ["load", nobody, f"--apikey={key}"], ["record", nobody, "--api-key", key, "--api-key"])]
    for url in (f"http://me:{key}@{nobody}", f"http://{key}@{nobody}/v1", f"me:{key}@{nobody}", f"http://me:{key}@1", f"http://me:{key}/x@{nobody}",
                f"http://me:{key}?x@{nobody}", f"ftp://me:{key}@{nobody}", f"http://me:{key} @{nobody}"):
        wrong += [(["record", url], 2), (["load", url, *LOAD], 2), (["engine", "status", url], 2), (["engine", "start", "--router-url", url], 2),
                  (["load", "--base-url", url, "--profile"], 2)]
    wrong += [(["load", "--host", f"me:{key}@127.0.0.1", "--port", "1"], 2)]
    wrong += [([*words, "--api-key", key], 6) for words in (["record", nobody], ["load", nobody, *LOAD], ["engine", "status", nobody, "--json"])]
    wrong += [(["record", f"http://{nobody}/?key={key}"], 6), (["load", f"http://{nobody}/?key={key}", *LOAD], 6)]
    missing = run("record", nobody, "--api-key-file", f"{folder}/none")
    check("no key file", missing.returncode == 3 and "--api-key-file" in missing.stderr, (missing.returncode, missing.stderr))
    out = pathlib.Path(folder, "out")
    out.mkdir()
    for words, status in wrong:
        done = run(*words, *(["--out", str(out)] if words[0] == "record" else []))
        shown = " ".join(words).replace(key, "KEY")
        check(f"{shown}: status", done.returncode == status and done.stderr, (done.returncode, done.stderr.replace(key, "KEY")))
        silent(shown, key, done, out)
        done = run(words[0], "--json", *words[1:], *(["--out", str(out)] if words[0] == "record" else []))
        check(f"{shown} --json: status", done.returncode == status and json.loads(done.stdout)["schema"] == 1, done.stderr.replace(key, "KEY"))
        silent(f"{shown} --json", key, done, out)


def strangers(folder):
    """A key goes to the servers that the user named; to workers that a router names when the user says so."""
    key = "sk-" + secrets.token_hex(8)

    def engine(path, headers):
        if headers.get("authorization") != f"Bearer {key}":
            return 401, {"error": "Unauthorized"}, {}
        if path == "/v1/models":
            return 200, {"data": [{"id": "m", "owned_by": "vllm"}]}, {}
        return (200, {"version": "0.32.0"}, {}) if path == "/version" else (404, {}, {})

    with Server(engine) as worker:
        def router(path, headers):
            return (200, {"workers": [{"id": "1", "url": worker.url}]}, {}) if path == "/workers" else engine(path, headers)

        with Server(router) as front:
            listed = pathlib.Path(folder, "workers.txt")
            listed.write_text(worker.url + "\n")
            log = pathlib.Path(folder, "launch.log")
            log.write_text(f"Starting vLLM server on {worker.url}\n")
            for words in (["engine", "status", front.url], ["record", front.url, "--out", folder], ["engine", "start", front.url],
                          ["load", front.url, *LOAD, "--profile", "--header", f"X-Api-Key={key}", "--out", folder]):
                worker.seen.clear()
                done = run(*words, "--api-key", key)
                check(f"{words[0]} {words[1][:6]}: no key to a stranger", worker.seen and not any(key in str(headers) for _, headers in worker.seen),
                      worker.seen[:1] or done.stderr)
                check(f"{words[0]}: says how", done.returncode == 6 and "--send-key-to-workers" in done.stderr and worker.url in done.stderr,
                      (done.returncode, done.stderr))
            check("the router got it", any(headers.get("authorization") == f"Bearer {key}" for _, headers in front.seen), front.seen[:1])
            done = run("engine", "status", front.url, "--api-key", key, "--send-key-to-workers")
            check("--send-key-to-workers", done.returncode == 0 and f"the key goes to the workers that {front.url} names, too: {worker.url}" in done.stderr,
                  (done.returncode, done.stdout, done.stderr))
            for words in ([worker.url], [str(listed)], [str(log)], [front.url, worker.url]):
                done = run("engine", "status", *words, "--api-key", key)
                check(f"{words}: named", done.returncode == 0 and key not in done.stderr, (done.returncode, done.stderr))


if __name__ == "__main__":
    main([written, loads, refused, parts, mistakes, strangers], __doc__)
