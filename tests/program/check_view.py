#!/usr/bin/env python3
"""`tacho view`: its address and key, every query against `tacho analyze --json`, its refusals, bad input, and its end.

usage: check_view.py TACHO [--only NAME ...]
"""
import contextlib
import gzip
import http.client
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import struct
import subprocess
import tarfile
import time
import urllib.parse

import processes
import scenario
from analyze_run import RECORDING, kernel, write, write_trace
from scenario import Skipped, check, main, wait_for

HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin"}
HOST = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1005, "dur": 2}
HOSTILE = "<img src=x onerror=alert(1)>"


class Page:
    """A running `tacho view`, asked with its key."""

    def __init__(self, process, url):
        self.process, self.url = process, url
        parts = urllib.parse.urlsplit(url)
        self.host, self.port = parts.hostname, parts.port
        self.token = urllib.parse.parse_qs(parts.query)["token"][0]

    def ask(self, path, method="GET", body=None, key=True, **headers):
        """(status, headers, body). Sends the key and a good Host unless told otherwise."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            headers = {"Host": f"127.0.0.1:{self.port}", **({"Authorization": f"Bearer {self.token}"} if key else {}), **headers}
            if body is not None:
                headers["Content-Length"] = str(len(body))
            for name, value in headers.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def json(self, what, /, **query):
        status, _, body = self.ask(f"/api/v1/{what}?{urllib.parse.urlencode(query)}")
        check(f"{what} {query}: 200", status == 200, f"{status} {body[:300]}")
        return json.loads(body)

    def wait_until_done(self):
        check("the traces are read", wait_for(lambda: self.ask("/api/v1/summary")[0] == 200), self.ask("/api/v1/meta"))
        return self.json("meta")

    def end(self):
        """Ctrl-C; (exit status, standard error)."""
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(60), self.process.stderr.read()
        except subprocess.TimeoutExpired:
            return "does not end after Ctrl-C", ""


@contextlib.contextmanager
def view(*arguments, stdin=None, **environment):
    """`tacho view` on a free port, without a display unless the environment has one."""
    plain = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION")}
    port = () if "--port" in arguments else ("--port", "0")
    with processes.running([scenario.TACHO, "view", *map(str, arguments), *port], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, stdin=stdin, env={**plain, **environment}) as process:
        yield Page(process, processes.first_line(process).strip())


def run(*arguments):
    """(exit status, standard error) of a `tacho view` that ends by itself."""
    done = subprocess.run([scenario.TACHO, "view", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def analysis(*paths):
    return subprocess.run([scenario.TACHO, "analyze", "--json", *map(str, paths)], capture_output=True).stdout


def corpus(name):
    root = pathlib.Path(os.environ.get("TACHO_CORPUS", pathlib.Path(__file__).resolve().parents[2] / "../shared/traces"))
    if not (root / name).exists():
        raise Skipped(f"no corpus at {root}")
    return root / name


def rows_of(meta, rank, kind):
    return [i for i, row in enumerate(meta["ranks"][rank]["rows"]) if row["kind"] == kind]


def lanes_of(tiles):
    """(row, lane): (mode, entries, bytes) of the lanes of a tile."""
    magic, version, lanes = struct.unpack_from("<IHH", tiles)
    check("a tile's head", (magic, version) == (0x656c6974, 2), (magic, version))
    found = {}
    for i in range(lanes):
        row, lane, mode, entries, offset = struct.unpack_from("<IIB7xII", tiles, 8 + 24 * i)
        found[row, lane] = (mode, entries, tiles[offset:offset + entries * (32 if mode else 16)])
    return found


def figures(folder):
    """What the queries say about a real trace is what `analyze --json` says."""
    trace = corpus("AMD-AGI+TraceLens/b200/eager_trace.json.gz")
    expected = analysis(trace)
    of = json.loads(expected)["traces"][0]
    with view(trace) as page:
        meta = page.wait_until_done()
        check("analysis: the bytes of analyze --json", page.ask("/api/v1/analysis")[2] == expected)
        summary = page.json("summary")
        check("summary: the verdict", summary["verdict"] == json.loads(expected)["verdict"]["text"], summary["verdict"])
        check("summary: fifteen answers", len(summary["answers"]) == 15, summary["answers"])
        check("summary: what the trust line says", summary["trust"][0] == "no event lost" and "linked to a launch" in summary["trust"][1], summary["trust"])
        rank = meta["ranks"][0]
        check("one rank, read", len(meta["ranks"]) == 1 and rank["state"] == "read", rank["state"])
        check("its steps", [(s["phase"], s["to_ns"] - s["from_ns"]) for s in meta["steps"]]
              == [(s["phase"], s["dur_ns"]) for s in of["steps"]["list"]], meta["steps"])
        check("its gaps", [(g["from_ns"] - rank["offset_ns"], g["to_ns"] - g["from_ns"], g["cause"]) for g in meta["gaps"]][:20]
              == [(g["start_ns"], g["dur_ns"], g["cause"]) for g in of["idle"]["gaps"]][:20], meta["gaps"][:3])
        names = page.json("names", rank=0)["names"]
        check("as many names as meta says", len(names) == rank["names"], (len(names), rank["names"]))
        # The busy row, column by column, adds up to the device's busy time.
        span = rank["span"]["to_ns"] - rank["span"]["from_ns"]
        width = 1 << (span // 64).bit_length()
        busy, stream = rows_of(meta, 0, "busy")[0], rows_of(meta, 0, "stream")[0]
        whole = page.ask(f"/api/v1/tiles?rank=0&rows={busy},{stream}&from=0&width={width}&columns=8192")[2]
        lanes = lanes_of(whole)
        mode, entries, data = lanes[busy, 0]
        check("a lane with fewer slices than columns is exact", mode == 1 and entries == meta["ranks"][0]["rows"][busy]["slices"], lanes)
        total = sum(struct.unpack_from("<dd", data, 32 * i)[1] for i in range(entries))
        check("its slices add up to the busy time", total == sum(d["busy_ns"] for d in of["devices"]), total)
        slice_queries(page, rank, stream, lanes[stream, 0])
        window_queries(page, rank, of, folder)


def slice_queries(page, rank, stream, lane):
    _, _, data = lane
    start, duration, place, name = struct.unpack_from("<ddII", data)
    slice = page.json("slice", rank=0, row=stream, lane=0, place=place)
    check("slice: that of the tile", (slice["from_ns"], slice["to_ns"]) == (start, start + duration), slice)
    check("slice: a piece of device work", slice["kind"] in ("kernel", "copy", "memset"), slice)
    check("slice: its arguments", any(argument["key"] == "stream" for argument in slice["args"]), slice["args"])
    check("at: the same", page.json("at", rank=0, row=stream, t=int(start)) == slice)
    launch = slice["launch"]["at"]
    call = page.json("slice", **{key: launch[key] for key in ("rank", "row", "lane", "place")})
    check("launch: its call", call["kind"] == "call" and call["launched_count"] >= 1, call)
    check("launched: among its work", any(work["at"]["from_ns"] == slice["from_ns"] for work in call["launched"]), call["launched"])


def window_queries(page, rank, of, folder):
    """Sums over the whole trace, and over a part of it."""
    start, end = rank["span"]["from_ns"], rank["span"]["to_ns"]
    whole = page.json("selection", **{"from": start, "to": end})
    kernels = {}
    for row in of["kernels"]:
        kernels[row["name"]] = kernels.get(row["name"], 0) + row["total_ns"]
    shown = {row["name"]: row["total_ns"] for row in whole["names"] if row["kind"] == "kernel"}
    check("selection: kernels of the whole window are those of analyze", shown == kernels, set(shown.items()) ^ set(kernels.items()))
    causes = {row["cause"]: row["total_ns"] for row in whole["idle"]}
    expected = {cause["id"]: cause["ns"] for cause in of["idle"]["causes"]} | {"busy": of["idle"]["busy_ns"]}
    check("selection: busy and the causes of idle time", {k: v for k, v in causes.items() if k != "outside"} == expected, (causes, expected))
    check("selection: they add up to the window", sum(causes.values()) == end - start, causes)
    check("selection: its steps", whole["steps"] == len(of["steps"]["list"]), whole["steps"])
    part = page.json("selection", **{"from": start + (end - start) // 3, "to": start + (end - start) // 2})
    check("selection: a part adds up too", sum(row["total_ns"] for row in part["idle"]) == part["to_ns"] - part["from_ns"], part["idle"])
    status, headers, exported = page.ask(f"/api/v1/export?from={start}&to={end}")
    check("export: a file to keep", status == 200 and headers["Content-Disposition"].startswith("attachment"), (status, headers))
    again = json.loads(analysis(write(pathlib.Path(folder) / "exported.json", exported)))["traces"][0]
    check("export: the whole window has the same figures", [again[k] for k in ("kernels", "categories", "copies")]
          == [of[k] for k in ("kernels", "categories", "copies")], again["devices"])
    # Search, and from hit to hit.
    name = max(kernels, key=kernels.get)
    found = page.json("search", q=name, most=5)
    count = sum(row["count"] for row in of["kernels"] if name.lower() in row["name"].lower())
    check("search: as many as analyze counts", found["total"] == count, (found, count))
    hits, at = 0, {"from": start - 1}
    while hit := page.json("next", what="search", q=name, **at):
        at = {"from": hit["from_ns"], "after": f"{hit['rank']},{hit['row']},{hit['lane']}"}
        hits += 1
    check("next: all of them, one after another", hits == count, (hits, count))
    gap = page.json("next", what="gap", nth=3)
    check("next: the third longest gap", gap["to_ns"] - gap["from_ns"] == of["idle"]["gaps"][2]["dur_ns"], gap)
    check("next: the first step", page.json("next", what="step", nth=1)["to_ns"] > 0)
    # The flame graph of the thread that launches: its root is the sum of what is on top.
    thread = next(i for i, row in enumerate(rank["rows"]) if row["kind"] == "thread")
    nodes = page.json("flame", rank=0, row=thread, **{"from": start, "to": end})["nodes"]
    check("flame: the root is the sum of its children", nodes[0][4] == sum(node[4] for node in nodes[1:] if node[2] == 0), nodes[0])
    check("flame: nobody's children take longer", all(node[4] <= nodes[node[2]][4] for node in nodes[1:]))


def ranks(folder):
    """A folder of ranks: on one clock, with a broken one among them, and the command's own words."""
    root = pathlib.Path(folder) / "run"
    base = {"baseTimeNanoseconds": 1_700_000_000_000_000_000, "schemaVersion": 1}
    for rank in range(3):
        write_trace(root / f"rank{rank}.json", [kernel(1000 + rank, 10, HOSTILE), kernel(1100, 20), {**HOST, "name": HOSTILE}],
                    distributedInfo={"rank": rank, "world_size": 3}, **base)
    write(root / "rank3.json", "")
    with view(root, "--gap", "1") as page:
        meta = page.wait_until_done()
        check("four ranks", [rank["state"] for rank in meta["ranks"]] == ["read"] * 3 + ["failed"], meta["ranks"])
        check("why one failed", "empty" in meta["ranks"][3]["why"] and meta["ranks"][3]["path"].endswith("rank3.json"), meta["ranks"][3])
        check("without collectives nothing is said of the clocks", meta["clock"]["residuals"] == [], meta["clock"])
        check("one clock", meta["clock"]["shared"] and [r["span"]["from_ns"] for r in meta["ranks"][:3]] == [0, 1000, 2000], meta["ranks"])
        check("--gap 1 is where it begins", meta["start"]["to_ns"] - meta["start"]["from_ns"] == meta["gaps"][0]["to_ns"] - meta["gaps"][0]["from_ns"],
              meta.get("start"))
        check("analysis of a folder", page.ask("/api/v1/analysis")[2] == analysis(root))
        check("a hostile name stays text", HOSTILE in page.json("names", rank=1)["names"], page.json("names", rank=1))
        check("of JSON", page.ask("/api/v1/names?rank=1")[1]["Content-Type"] == "application/json")
        one_page_listens(page, root)
        status, said = page.end()
        check("Ctrl-C: status 4, for one rank is missing", status == 4, f"{status} {said}")
        check("and which", "rank3.json: is empty" in said, said)
        check("the vanished file is named on the terminal", "rank2.json was removed" in said, said)


def absent(folder):
    """Where the command line wants to begin is not there: words on the page and on the terminal."""
    path = write_trace(pathlib.Path(folder) / "trace.json", [kernel(1000, 10), kernel(1100, 20)])
    for option, value, words, begins in (("--gap", "99", "gap 99: there is 1 gap; the page begins at the last", True),
                                         ("--step", "9999", "step 9999: the traces have no steps", False),
                                         ("--find", "softmax", '"softmax": no slice has this in its name', False)):
        with view(path, option, value) as page:
            start = page.wait_until_done()["start"]
            check(f"{option} {value}: words for the page", start["lacks"] == words and ("from_ns" in start) == begins, start)
            status, said = page.end()
            check(f"{option} {value}: words on the terminal", status == 0 and words in said, f"{status} {said}")


def one_page_listens(page, root):
    connection = socket.create_connection(("127.0.0.1", page.port), timeout=60)
    with connection, connection.makefile("rb") as lines:
        connection.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {page.token}\r\n\r\n".encode())
        events = []
        os.remove(root / "rank2.json")
        while "gone" not in events:
            line = lines.readline().decode()
            if not line:
                break
            if line.startswith("event: "):
                events.append(line.split()[1])
        check("events: what happened so far, then the vanished file", events == ["progress"] + ["rank"] * 4 + ["done", "gone"], events)


def collectives(folder):
    """What the kernels of one collective say of the ranks: their clocks, and who waited for whom."""
    with view(corpus("facebookresearch+param/dlrm_kineto.tar.gz")) as page:
        meta = page.wait_until_done()
        clock = meta["clock"]
        check("traces in Unix time are on one clock", clock["shared"] and meta["ranks"][7]["span"]["from_ns"] == 2_044_000, clock)
        check("seven residuals, measured against rank 0", [(r["rank"], r["against"], r["collectives"]) for r in clock["residuals"]]
              == [(rank, 0, 8) for rank in range(1, 8)], clock)
        check("of less than 3 us", all(abs(r["ns"]) <= 3000 and r["spread_ns"] <= 3000 for r in clock["residuals"]), clock)
        check("every kernel is matched", clock["communication_kernels"] == {"count": 64, "unmatched": 0}, clock)
        name = "ncclKernel_AllReduce"
        hits = [page.json("next", what="search", q=name, rank=rank, **{"from": -10**9}) for rank in range(8)]
        slices = [page.json("slice", **{key: hit[key] for key in ("rank", "row", "lane", "place")}) for hit in hits]
        for rank, of in enumerate(slices):
            others = [(at["rank"], at["from_ns"], at["to_ns"]) for at in of["collective"]["at"]]
            check(f"rank {rank}: the same collective of the others", others == [(h["rank"], h["from_ns"], h["to_ns"]) for h in hits if h["rank"] != rank], others)
        waits = [of["collective"]["wait_ns"] for of in slices]
        last = slices[0]["collective"]["last_start_rank"]
        check("the rank that starts last waits for nobody", min(waits) == waits[last] == 0 and hits[last]["from_ns"] == max(h["from_ns"] for h in hits), waits)
        late = [hits[last]["from_ns"] - hit["from_ns"] for hit in hits]
        check("the others wait until it starts", all(abs(wait - by) <= 3000 for wait, by in zip(waits, late)), (waits, late))
        gemm = page.json("next", what="search", q="gemm", rank=0, **{"from": -10**9})
        check("no other kernel is part of one", "collective" not in page.json("slice", **{key: gemm[key] for key in ("rank", "row", "lane", "place")}))


def layers(folder):
    """The layers and blocks of a model: rows, details, a flame graph, and words."""
    root = pathlib.Path(folder) / "tp2"
    done = scenario.run("simulate", "trace", "-o", str(root), "--steps", "12", "--layers", "5", "--ranks", "2")
    check("two ranks are simulated", done.returncode == 0, done.stderr)
    of = {trace["path"]: trace["layers"] for trace in json.loads(analysis(root))["traces"]}
    with view(root) as page:
        meta = page.wait_until_done()
        for number, rank in enumerate(meta["ranks"]):
            told = of[rank["path"]]
            (layer,), (block,) = rows_of(meta, number, "layer"), rows_of(meta, number, "block")
            check("a slice for each layer of each step", rank["rows"][layer]["slices"] == told["steps"] * 5, rank["rows"][layer])
            check("above the streams", layer < block < rows_of(meta, number, "stream")[0])
            # By phase, layer ("" outside) and block: the flame graph of the whole trace is the table.
            nodes = page.json("flame", rank=number, row=block)["nodes"]
            shown = {}
            for name, _, parent, _, total, _ in nodes[1:]:
                up = []
                while parent:
                    up.insert(0, nodes[parent][0])
                    parent = nodes[parent][2]
                if len(up) == (2 if up[1:2] and up[1].startswith("layer ") else 1) and not name.startswith("layer "):
                    shown[up[0], up[1] if len(up) > 1 else "", name] = total
            expected = {(phase["phase"], name, of_block["id"]): of_block["device_ns"] for phase in told["phases"]
                        for name, blocks in [("", phase["outside"])] + [(f"layer {row['index']}", row["blocks"]) for row in phase["list"]]
                        for of_block in blocks}
            check("flame: its times are those of analyze", shown == expected, set(shown.items()) ^ set(expected.items()))
            hits = page.json("search", q="layer 3", rank=number)["names"]
            check("search: layer 3 of each step", [(hit["name"], hit["count"]) for hit in hits] == [("layer 3", told["steps"])], hits)
            sums, at = {}, {"from": -10**9}
            while hit := page.json("next", what="search", q="layer 3", rank=number, **at):
                at = {"from": hit["from_ns"], "after": f"{hit['rank']},{hit['row']},{hit['lane']}"}
                slice = page.json("slice", **{key: hit[key] for key in ("rank", "row", "lane", "place")})
                detail = slice["layers"]
                check("a layer knows its step", slice["step"]["phase"] == detail["phase"] and detail["layer"] == 3 and "block" not in detail, slice)
                sums.setdefault(detail["phase"], []).append(detail)
            for phase in told["phases"]:
                found, row = sums[phase["phase"]], phase["list"][3]
                check("as many as steps of the phase", len(found) == phase["steps"] == found[0]["steps"], len(found))
                for key in ("device_ns", "gap_ns"):
                    check(f"layer 3: {key} adds up", sum(detail[key] for detail in found) == row[key], (found, row))
                    check(f"layer 3: the mean of {key}", found[0]["mean_" + key] == row[key] // phase["steps"], (found[0], row))
                check("layer 3: its kind", found[0]["layer_kind"] == row["kind"], found[0])
            words = page.json("model", rank=number)
            check("model: words", words["phases"][0]["layers"].startswith("5 layers by the order of the kernels") and "no_layers" not in words
                  and words["no_roofline"] == "the model is not known (--model-config)" and "roofline" not in words, words)
    bare = write_trace(pathlib.Path(folder) / "bare.json", [kernel(1000, 10)])
    with view(bare) as page:
        meta = page.wait_until_done()
        check("without layers there is no row", not rows_of(meta, 0, "layer") and not rows_of(meta, 0, "block"))
        words = page.json("model", rank=0)
        check("but why", words["no_layers"] == "no step of the engine is named" and words["phases"] == words["room"] == [], words)


def who_may_ask(folder):
    """Another host, another origin, no key, and what every answer carries."""
    with view(RECORDING) as page:
        page.wait_until_done()
        for host in ("evil.example", f"evil.example:{page.port}", "127.0.0.1.nip.io", "localhost.evil.example", None):
            status, headers, body = page.ask("/api/v1/meta", Host=host)
            check(f"Host {host}: 403", status == 403, status)
            check("and nothing of the trace", b"ranks" not in body and page.token.encode() not in body, body)
        for host in ("localhost", f"LOCALHOST:{page.port}", "127.0.0.1:1", "[::1]:8137"):
            check(f"Host {host}: served", page.ask("/api/v1/meta", Host=host)[0] == 200)
        for path in ("/", "/app.js", "/api/v1/meta", "/api/v1/events", "/nothing"):
            status, headers, _ = page.ask(path, key=False)
            check(f"{path} without a key: 401", status == 401, status)
        wrong = page.token[:-1] + ("0" if page.token[-1] != "0" else "1")
        check("a wrong key: 401", page.ask("/", key=False, Authorization=f"Bearer {wrong}")[0] == 401)
        check("a wrong token: 401", page.ask(f"/?token={wrong}", key=False)[0] == 401)
        status, headers, _ = page.ask(f"/?token={page.token}", key=False)
        location = headers.get("Location", "")
        check("the token: 303 to a relative address", status == 303 and location.startswith("./") and page.token not in location, (status, headers))
        folder = location[1:].split("?")[0]
        status, headers, _ = page.ask(location[1:], key=False)
        check("from there: 303 to the page", (status, headers.get("Location")) == (303, "./"), (status, headers))
        cookie = headers["Set-Cookie"]
        check("a cookie of this port", cookie.startswith(f"tacho-{page.port}=") and "HttpOnly" in cookie and "SameSite=Strict" in cookie, cookie)
        check("without the token in it", page.token not in cookie, cookie)
        cookie = cookie.split(";")[0]
        check("the cookie opens the page", page.ask(folder, key=False, Cookie=cookie)[0] == 200)
        check("and what is in it", page.ask(f"{folder}api/v1/meta", key=False, Cookie=cookie)[0] == 200)
        check("a cookie that another port got opens nothing", page.ask("/api/v1/meta", key=False, Cookie=cookie)[0] == 401)
        for path in ("/", "/app.js", "/app.css", "/favicon.svg", "/api/v1/meta", "/nothing", "/api/v1/nothing"):
            status, headers, body = page.ask(path)
            check(f"{path}: safe headers", all(headers.get(name) == value for name, value in HEADERS.items())
                  and "default-src 'none'" in headers.get("Content-Security-Policy", "") and "'unsafe" not in headers["Content-Security-Policy"], headers)
            check(f"{path}: no CORS", not any(name.lower().startswith("access-control") for name in headers), headers)
        status, headers, body = page.ask("/app.js")
        source = pathlib.Path(__file__).resolve().parents[2] / "web/dist/app.js"
        check("the page is gzip", headers["Content-Encoding"] == "gzip" and gzip.decompress(body) == source.read_bytes(), headers)
        check("and has a tag", page.ask("/app.js", **{"If-None-Match": headers["ETag"]})[0] == 304, headers)
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/app.js%00.html", "/web/dist/app.js"):
            check(f"{path}: 404", page.ask(path)[0] == 404)
        for method in ("POST", "DELETE", "OPTIONS"):
            check(f"{method}: 405", page.ask("/api/v1/meta", method)[0] == 405)


def marks(folder):
    trace = shutil.copy(RECORDING, pathlib.Path(folder) / "a.pt.trace.json.gz")
    note = json.dumps({"marks": [{"from_ns": 1, "to_ns": 2, "note": HOSTILE}]}).encode()
    with view(trace) as page:
        own = f"http://127.0.0.1:{page.port}"
        check("no marks at first", page.json("marks") == {"marks": []})
        for origin in (None, "http://evil.example", "null", f"http://localhost:{page.port}"):
            check(f"PUT from {origin}: 403", page.ask("/api/v1/marks", "PUT", note, Origin=origin)[0] == 403)
        check("PUT without a key: 401", page.ask("/api/v1/marks", "PUT", note, key=False, Origin=own)[0] == 401)
        check("no mark is a file yet", not os.path.exists(f"{trace}.tacho-marks.json"))
        check("PUT", page.ask("/api/v1/marks", "PUT", note, Origin=own)[0] == 200)
        check("they are kept beside the trace", json.load(open(f"{trace}.tacho-marks.json")) == json.loads(note))
        for bad in (b"", b"[]", b'{"marks": [{}]}', b"{" * 100_000):
            check(f"PUT {bad[:20]}: 400", page.ask("/api/v1/marks", "PUT", bad, Origin=own)[0] == 400)
        tag = page.ask("/api/v1/marks")[1]["ETag"]
        status, headers, _ = page.ask("/api/v1/marks", "PUT", b'{"marks": []}', Origin=own, **{"If-Match": tag})
        check("PUT with the tag", status == 200 and headers["ETag"] != tag, f"{status} {headers}")
        check("PUT with an old tag: 412", page.ask("/api/v1/marks", "PUT", note, Origin=own, **{"If-Match": tag})[0] == 412)
        check("PUT without a tag", page.ask("/api/v1/marks", "PUT", note, Origin=own)[0] == 200)
        check("PUT of 2 MB: 413", page.ask("/api/v1/marks", "PUT", b" " * 2_000_000, Origin=own)[0] == 413)
    with view(trace) as page:
        check("the next one has them", page.json("marks") == json.loads(note))


def bounds(folder):
    """Bad and huge queries, a thousand connections, clients that stop reading."""
    with view(RECORDING) as page:
        page.wait_until_done()
        good = {"rank": 0, "rows": "0", "from": 0, "width": 1024, "columns": 100}
        check("a tile", page.ask(f"/api/v1/tiles?{urllib.parse.urlencode(good)}")[0] == 200)
        for bad in ({"columns": 8193}, {"columns": -1}, {"width": 1000}, {"width": 2**63}, {"from": 1}, {"from": "x"}, {"rows": "0-99999999"},
                    {"rows": ",".join(["0"] * 513)}, {"rank": 1}, {"rank": -1}, {"rank": "0;ls"}):
            status, _, body = page.ask(f"/api/v1/tiles?{urllib.parse.urlencode({**good, **bad})}")
            check(f"tiles {str(bad)[:60]}: 400", status == 400 and json.loads(body)["error"], f"{status} {body[:200]}")
        check("a head of 20 kB: 431", page.ask("/", X="x" * 20_000)[0] == 431)
        check("an unknown query: 404", page.ask("/api/v1/shell")[0] == 404)
        stopped = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(20)]
        for connection in stopped:
            connection.sendall(f"GET /api/v1/analysis HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {page.token}\r\n\r\n".encode() * 20)
        check("20 clients that do not read hold up nobody", page.ask("/api/v1/meta")[0] == 200)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
        kept = http.client.HTTPConnection("127.0.0.1", page.port, timeout=60)
        kept.request("GET", "/api/v1/meta", headers={"Authorization": f"Bearer {page.token}"})
        kept.getresponse().read()
        many = []
        with contextlib.suppress(OSError):
            many += [socket.create_connection(("127.0.0.1", page.port)) for _ in range(1000)]
        kept.request("GET", "/api/v1/meta", headers={"Authorization": f"Bearer {page.token}"})
        check("1,000 connections do not take away an open one", kept.getresponse().status == 200)
        for connection in (*stopped, *many):
            connection.close()
        check("and after them there is room again", wait_for(lambda: page.ask("/api/v1/meta")[0] == 200))


def bad_input(folder):
    root = pathlib.Path(folder)
    for what, arguments, status, word in (
            ("no path", [], 2, "no trace given"), ("a missing path", [root / "missing"], 3, "missing"),
            ("text", [write(root / "text.json", "hello world\n" * 50)], 3, "text.json"),
            ("JSON that is no trace", [write(root / "other.json", '{"a": 1}')], 3, "other.json"),
            ("no such rank", [RECORDING, "--rank", "7"], 2, "rank 7"),
            ("a bad time", [RECORDING, "--at", "soon"], 2, "soon"), ("an unknown option", [RECORDING, "--prot", "1"], 2, "--port"),
            ("a bad host", [RECORDING, "--host", "nowhere.example"], 2, "nowhere.example"),
            ("a host with a port", [RECORDING, "--allow-host", "a:80"], 2, "a:80"),
            ("no origin", [RECORDING, "--allow-frame", "http://a;img-src"], 2, "http://a;img-src")):
        got, said = run(*arguments)
        check(f"{what}: status {status}", got == status, f"{got} {said}")
        check(f"{what}: says {word!r}", word in said and "bug" not in said, said)
    # Half a trace: what is there is shown, with the note.
    text = gzip.open(RECORDING).read()
    with view(write(root / "half.json", text[:len(text) // 2])) as page:
        meta = page.wait_until_done()
        check("half a trace is shown", meta["ranks"][0]["slices"] > 0 and "truncated-json" in [n["id"] for n in meta["ranks"][0]["notes"]], meta["ranks"])
        status, said = page.end()
        check("and its end is status 4", status == 4 and "truncated-json" in said, f"{status} {said}")
    # No GPU rows, and an event of an hour among microseconds.
    with view(write_trace(root / "host.json", [HOST])) as page:
        rows = page.wait_until_done()["ranks"][0]["rows"]
        check("rows that have nothing to show say why", any(row.get("lacks") for row in rows), rows)
    with view(write_trace(root / "hour.json", [kernel(0, 3_600_000_000), kernel(10, 1, stream=8), HOST])) as page:
        check("an event of an hour", page.wait_until_done()["span"]["to_ns"] == 3_600_000_000_000)
    # Two traces of different jobs.
    for name, start in (("a", 1_700_000_000), ("b", 1_700_900_000)):
        write_trace(root / f"{name}.json", [kernel(0, 10)], baseTimeNanoseconds=start * 10**9)
    with view(root / "a.json", root / "b.json") as page:
        meta = page.wait_until_done()
        check("traces of different jobs are on clocks of their own", not meta["clock"]["shared"], meta["clock"])
        check("which both begin at 0", [rank["span"]["from_ns"] for rank in meta["ranks"]] == [0, 0], meta["ranks"])


def ports_and_browsers(folder):
    root = pathlib.Path(folder)
    with view(RECORDING, "--port", "0") as page:
        got, said = run(RECORDING, "--port", page.port)
        check("a port in use: status 3", got == 3 and "take another port" in said, f"{got} {said}")
        check("no display: how to reach it", f"ssh -N -L {page.port}:127.0.0.1:{page.port}" in page.process.stdout.readline())
    with view(RECORDING, "--host", "0.0.0.0") as page:
        page.wait_until_done()
        check("--host 0.0.0.0: the name in its address is allowed", page.ask("/", Host=f"{page.host}:{page.port}")[0] == 200)
        check("a warning", "travels unencrypted" in page.end()[1])
    # A browser gets a key that works once, in a process group of its own, without a shell.
    opener = write(root / "xdg-open", f'#!/bin/sh\necho "$#" "$1" > {root}/opened.tmp && mv {root}/opened.tmp {root}/opened\n')
    opener.chmod(0o755)
    path = f"{root}:{os.environ['PATH']}"
    with view(RECORDING, DISPLAY=":0", PATH=path) as page:
        check("the browser is opened", wait_for((root / "opened").exists))
        count, url = (root / "opened").read_text().split()
        token = url.split("token=")[1]
        check("with one argument, and not the terminal's key", count == "1" and page.token not in url, url)
        check("which works", page.ask(f"/?token={token}", key=False)[0] == 303)
        check("once", page.ask(f"/?token={token}", key=False)[0] == 401)
        page.wait_until_done()
        status, said = page.end()
        check("Ctrl-C: status 0", status == 0 and said == "tacho: interrupted: ending (again: ends at once)\n", f"{status} {said}")
    (root / "opened").unlink()
    for environment in ({"SSH_CONNECTION": "1 2 3 4"}, {}):
        options = () if environment else ("--no-open",)
        with view(RECORDING, *options, DISPLAY=":0", PATH=path, **environment) as page:
            page.wait_until_done()
    check("over ssh and with --no-open it is not", not (root / "opened").exists())


def idle_exit(folder):
    with view(RECORDING, "--idle-exit", "300ms") as page:
        check("--idle-exit: it ends by itself", page.process.wait(60) == 0, page.process.returncode)
    with view(RECORDING, "--idle-exit", "3s") as page:
        connection = socket.create_connection(("127.0.0.1", page.port), timeout=60)
        connection.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {page.token}\r\n\r\n".encode())
        check("an open page", b"200" in connection.recv(100))
        time.sleep(4.5)
        check("keeps it", page.process.poll() is None, page.process.returncode)
        connection.close()
        check("until it is closed", page.process.wait(60) == 0, page.process.returncode)


def other_inputs(folder):
    """Standard input, an archive, and Ctrl-C while a pipe is still being read."""
    with tarfile.open(pathlib.Path(folder) / "run.tar.gz", "w:gz") as archive:
        archive.add(RECORDING, "rank0.pt.trace.json.gz")
    with view(pathlib.Path(folder) / "run.tar.gz") as page:
        check("an archive", page.wait_until_done()["ranks"][0]["path"].endswith("run.tar.gz:rank0.pt.trace.json.gz"))
    reads, writes = os.pipe()
    with os.fdopen(reads) as pipe, view("-", stdin=pipe) as page, os.fdopen(writes, "wb") as into:
        into.write(RECORDING.read_bytes()[:2000])
        into.flush()
        meta = page.json("meta")
        check("standard input is shown while it is read", meta["ranks"][0]["state"] == "reading", meta["ranks"])
        check("and not done", page.ask("/api/v1/summary")[0] == 409)
        check("it has no place for marks", page.ask("/api/v1/marks", "PUT", b'{"marks": []}', Origin=f"http://127.0.0.1:{page.port}")[0] == 400)
        ended = page.end()
        check("Ctrl-C before all was read ends it", ended[0] == 130, ended)


if __name__ == "__main__":
    main([figures, ranks, absent, collectives, layers, who_may_ask, marks, bounds, bad_input, ports_and_browsers, idle_exit, other_inputs], __doc__)
