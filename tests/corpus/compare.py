"""What the checks of figures share: comparing, running tacho, and the last line."""
import json
import subprocess
import sys

passed = failed = 0


def check(what, got, want):
    global passed, failed
    if got == want:
        passed += 1
    else:
        failed += 1
        print(f"DIFFERS {what}: got {str(got)[:300]}, expected {str(want)[:300]}")


def run(tacho, *args):
    """`tacho analyze --json ARGS`: the document (None without one), the exit status, standard error."""
    done = subprocess.run([tacho, "analyze", "--json", *map(str, args)], capture_output=True, timeout=300)
    doc = None
    if done.stdout:
        try:
            doc = json.loads(done.stdout)
        except ValueError as e:
            check(f"{args} prints JSON", str(e), "JSON")
    return doc, done.returncode, done.stderr.decode(errors="replace")


def only(doc, name):
    """The document's trace, when it has exactly one."""
    if not doc or len(doc["traces"]) != 1:
        check(f"{name} is one trace", doc and len(doc["traces"]), 1)
        return None
    return doc["traces"][0]


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 or passed == 0)
