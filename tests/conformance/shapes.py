"""The shape of an answer: what stays the same from one run, machine and implementation to the next.

Objects keep their keys, arrays their distinct kinds of elements, values only their type, unless their key is one whose
value is part of the protocol (LITERAL): then the value stays, with addresses, ids and large numbers cut out of it.
"""
import json
import re

LITERAL = frozenset("""object type code param detail message status finish_reason reason role error worker_type
connection_mode is_healthy version total stats disable_health_check server_load is_sleeping router_manager retryable
prefill_count decode_count regular_count routers_count workers_count healthy_workers total_workers owned_by priority
cost model model_id id""".split())
# Depends on earlier requests to the engine.
ANY = frozenset("cached_tokens_details prompt_tokens_details".split())
CUTS = [(re.compile(pattern), name) for pattern, name in (
    (r"https?://[0-9A-Za-z.\-]+(:\d+)?", "<url>"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<uuid>"),
    (r"\b(cmpl|chatcmpl|modelperm)-[0-9a-f]{12,}\b", r"\1-<hex>"),
    (r"\b[0-9a-f]{16,}\b", "<hex>"),
    (r"(?<![\w.])/(?:[\w.\-]+/)+[\w.\-]+", "<path>"),
    (r"\b\d{5,}(\.\d+)?\b", "<number>"),
)]


def cut(text):
    for pattern, name in CUTS:
        text = pattern.sub(name, text)
    return text


def shape(value, key=""):
    if key in ANY:
        return "any"
    if isinstance(value, dict):
        return {k: shape(v, k) for k, v in sorted(value.items())}
    if isinstance(value, list):
        kinds = {json.dumps(shape(v), sort_keys=True) for v in value}
        return [json.loads(kind) for kind in sorted(kinds)]
    if value is None:
        return None
    if key in LITERAL and isinstance(value, (str, bool, int)):
        if isinstance(value, str):
            # The rest of a validation error is its library's own, with line numbers of the engine's source.
            return "=" + cut(value.partition("\n")[0] if key == "message" else value)
        return value if abs(value) < 10000 else "integer"
    return {str: "string", bool: "boolean", int: "integer", float: "number"}[type(value)]


def events(text):
    """A stream of server-sent events: its distinct chunks in the order of first occurrence, and its last event."""
    found = [part.removeprefix("data:").strip() for part in text.split("\n\n") if part.strip()]
    kinds = []
    for event in found:
        try:
            kind = shape(json.loads(event))
        except ValueError:
            kind = "=" + cut(event)
        if kind not in kinds:
            kinds.append(kind)
    kinds.sort(key=lambda k: json.dumps(k, sort_keys=True))
    return {"chunks": kinds, "last": cut(found[-1]) if found[-1:] == ["[DONE]"] else "no [DONE]"}


def select(value, pointers):
    """{pointer: what it points to} of a JSON document; a pointer to nothing gives "absent"."""
    def follow(at, pointer):
        for part in pointer.strip("/").split("/"):
            part = part.replace("~1", "/").replace("~0", "~")
            if isinstance(at, list) and part.isdecimal() and int(part) < len(at):
                at = at[int(part)]
                continue
            if not isinstance(at, dict) or part not in at:
                return "absent"
            at = at[part]
        return at
    return {p: follow(value, p) for p in pointers}


SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+")


def metrics(text, names):
    """{family: type and label names} of the named families in Prometheus text; "absent" where there is none."""
    types, labels = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(maxsplit=3)
            types[name] = kind
            continue
        sample = SAMPLE.match(line)
        if sample:
            labels.setdefault(sample[1], set()).update(re.findall(r'(?:^|,)(\w+)="', sample[2] or ""))
    found = {}
    for name in names:
        kind = types.get(name) or types.get(name.removesuffix("_total"))
        if kind is None:
            found[name] = "absent"
            continue
        parts = {name: "", name + "_bucket": "_bucket", name + "_count": "_count", name + "_sum": "_sum"}
        found[name] = {"type": kind, "labels": {suffix or "value": sorted(labels[part])
                                                for part, suffix in parts.items() if part in labels}}
    return found


NUMBER = re.compile(r"\d+")


def trace(document, file_name):
    """The dialect of a Kineto trace: keys at the top, who is named, the kinds of events with their keys."""
    kinds, processes, annotations = {}, set(), set()
    for event in document["traceEvents"]:
        args = event.get("args", {})
        if event.get("ph") == "M":
            if event["name"] == "process_name":
                processes.add(NUMBER.sub("N", str(args["name"])))
            continue
        kind = kinds.setdefault(f"{event.get('ph')} {event.get('cat', '')}".strip(), {"keys": set(), "args": set()})
        kind["keys"] |= set(event)
        kind["args"] |= set(args)
        if event.get("cat") == "user_annotation":
            annotations.add(NUMBER.sub("N", event["name"]))
    top = {k: v for k, v in document.items() if k != "traceEvents"}
    keys = list(document)
    return {"file": re.sub(r"\d{5,}(\.\d+)?", "<number>", file_name), "top": shape(top),
            "after_events": keys[keys.index("traceEvents") + 1:], "processes": sorted(processes),
            "annotations": sorted(annotations),
            "events": {k: {part: sorted(v) for part, v in both.items()} for k, both in sorted(kinds.items())}}
