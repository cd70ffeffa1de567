"""tacho doctor of logs: what ended an engine, in whose words, and in whose wrapping."""
import json


def _doctor(case, file, status):
    """The findings of one log by their ids."""
    done = case.run("doctor", "--json", "--no-progress", file)
    case.check(f"{file}: status", done.returncode, status)
    result = json.loads(done.stdout)
    return {one["id"]: one for one in result["findings"]}, result


def _is(case, file, found, finding, severity, *words):
    case.check(f"{file}: {finding}", finding in found, True)
    if finding not in found:
        return
    case.check(f"{file}: {finding} is", found[finding]["severity"], severity)
    for word in words:
        text = found[finding]["evidence"] + found[finding]["remedy"]
        case.check(f"{file}: says {word!r}", word if word in text else text, word)


def log_chained(case):
    found, _ = _doctor(case, "chain.log", 4)
    _is(case, "chain.log", found, "engine-died", "blocking", "in line 6: KeyError: 'model.layers.61", "line 13: RuntimeError: Failed to load")


def log_client_traceback(case):
    for file in ("server_alone.log", "server_and_client.log"):
        found, _ = _doctor(case, file, 0)
        case.check(f"{file}: no end", "engine-died" in found, False)
    _is(case, file, found, "log-failure", "notice", "line 23: AssertionError")


def log_prefixes(case):
    for path in sorted(case.folder.glob("*.log")):
        found, _ = _doctor(case, path.name, 4)
        _is(case, path.name, found, "engine-died", "blocking", "in line 7", "EngineCore_DP0", ": ValueError: No available memory for the cache blocks")
        case.check(f"{path.name}: nothing else", sorted(found), ["engine-died"])


def log_profile_rpc(case):
    found, _ = _doctor(case, "a_profile_rpc_timeout.log", 4)
    _is(case, "a", found, "flush-timed-out", "incomplete", "line 15", "the stop failed")
    found, _ = _doctor(case, "c_cant_disable.log", 0)
    _is(case, "c", found, "stop-without-session", "info", "line 6", "its own bound")
    case.check("c: nothing else", sorted(found), ["stop-without-session"])


def log_router_names(case):
    clear = None
    for file in ("sglang_router_rs.log", "sgl_model_gateway.log", "smg.log"):
        found, result = _doctor(case, file, 0)
        states = {one["id"]: one["status"] for one in result["checks"]}
        clear = clear or states
        case.check(f"{file}: as under the old name", (sorted(found), states), ([], clear))
    case.check("most are clear", list(clear.values()).count("clear") > 30, True)
    for file in ("dynamo_sglang.log", "dynamo_vllm.log"):
        _doctor(case, file, 4)


def log_sglang_watchdog(case):
    for file in ("new_text.log", "old_text.log"):
        found, _ = _doctor(case, file, 4)
        _is(case, file, found, "flush-timed-out", "blocking", "line 6", "atchdog timeout (self.watchdog_timeout=300", "--watchdog-timeout")
        case.check(f"{file}: has a remedy", "engine-died" in found, False)
    found, _ = _doctor(case, "probe_kill.log", 4)
    _is(case, "probe_kill.log", found, "killed-while-writing", "incomplete", "line 9", "while it wrote")
