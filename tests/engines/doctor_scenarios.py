"""`tacho doctor` on real servers that are healthy, or broken on purpose."""
import json
import subprocess

from frame import DONE, INCOMPLETE, Setup, ask, check, last_line, wait_for
from launch_scenarios import NONE, engine_command

VLLM = Setup(("vllm", "--dev-mode"), 4)
UNPROFILED = Setup(("vllm", "--no-profiler"), 4)
NO_FOLDER = Setup(("vllm", "--dev-mode", "--profiler-config", '{"torch_profiler_dir":"/proc/traces"}'), 4)
SGLANG = Setup(("sglang",), 3)


def doctor(tacho, *words, status, environment=None):
    """What it finds: {id: the finding}."""
    done = subprocess.run([tacho.program, "doctor", "--json", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120, env=environment)
    check(done.returncode == status, f"doctor {' '.join(map(str, words))} exits {done.returncode}: {done.stdout[:1500]} {last_line(done.stderr)}")
    return {finding["id"]: finding for finding in json.loads(done.stdout)["findings"]}


def healthy(engines, tacho):
    """Nothing of a healthy engine would spoil a recording, and the doctor changes nothing."""
    doctor(tacho, engines.url(), status=DONE)
    doctor(tacho, engines.workers[0]["log"], status=DONE)


def doctor_of_a_healthy_vllm(engines, tacho):
    healthy(engines, tacho)


def doctor_of_a_healthy_sglang(engines, tacho):
    healthy(engines, tacho)


def doctor_of_a_second_session(engines, tacho):
    """A session that tacho left open, and what a second start from outside leaves in the log."""
    check(tacho.engine("start", engines.url())[0] == DONE, "tacho engine start fails")
    check("open-session" in doctor(tacho, engines.url(), status=INCOMPLETE), "the open session is not found")
    ask(engines.url() + "/start_profile", "POST", timeout=300)
    found = doctor(tacho, engines.workers[0]["log"], status=DONE)
    check("start-refused" in found, f"in the log: {list(found)}")
    check(tacho.engine("stop", engines.url())[0] == DONE, "tacho engine stop fails")


def doctor_without_a_profiler(engines, tacho):
    found = doctor(tacho, engines.url(), status=INCOMPLETE)
    check(found.get("profiler-off", {}).get("severity") == "blocking", f"found {list(found)}")


def doctor_of_a_bad_folder(engines, tacho):
    found = doctor(tacho, engines.url(), status=INCOMPLETE)
    check("trace-folder-bad" in found, f"found {list(found)}")


def doctor_of_an_unknown_key(_, tacho):
    """The command line before the start, and the log of a start that failed over it."""
    command, environment = engine_command("vllm")
    words = [*command, "--profiler-config", '{"profiler":"torch","torch_profiler_dir":"/tmp","max_iteration":5}']
    found = doctor(tacho, "--", *words, status=INCOMPLETE, environment=environment)
    check("max_iterations" in found["config-key-unknown"]["remedy"], f"found {found}")
    log = tacho.work / "vllm.log"
    with open(log, "wb") as out:
        check(subprocess.run(words, env=environment, stdout=out, stderr=out, timeout=120).returncode != 0, "it starts with the key")
    found = doctor(tacho, log, status=INCOMPLETE)
    check("config-key-unknown" in found, f"in the log: {list(found)}")


def sglang_ends_at_a_wake(engines, tacho):
    """What tacho engine wake refuses: SGLang's scheduler ends at a wake while it is awake."""
    status, _, err = tacho.engine("wake", engines.url())
    check(status != DONE and "nothing was sent" in err, f"a wake of one that is awake: {status} {err}")
    tacho.engine("wake", "--force", engines.url(), "--timeout", "20s")
    wait_for(lambda: ask(engines.url() + "/ready", timeout=2)[0] != 200, 60, "the end of SGLang", 0.5)
    found = doctor(tacho, engines.workers[0]["log"], status=INCOMPLETE)
    check("engine-died" in found, f"in the log: {list(found)}")


SCENARIOS = [(VLLM, doctor_of_a_healthy_vllm), (VLLM, doctor_of_a_second_session), (UNPROFILED, doctor_without_a_profiler),
             (NO_FOLDER, doctor_of_a_bad_folder), (NONE, doctor_of_an_unknown_key), (SGLANG, doctor_of_a_healthy_sglang),
             (SGLANG, sglang_ends_at_a_wake)]
