"""A pytest fixture for budgets of a run, judged as the gates of ``tacho compare`` are (docs/python.md)."""
import re

import pytest

from . import _errors, _run

_OPPOSITE = str.maketrans("<>", "><")


def check_budgets(run, *budgets, against=None, without_bounds=False):
    """Fails the test unless the run keeps the budgets: "decode.step.p50 < 20ms" is of the run itself, "decode.step < +3%" of the change
    against another run, "kernels.new" says that there is none. A budget is not kept if its figure is unknown, or if its bounds include
    the limit. ``without_bounds``: judge by values where no bounds are known. Returns the comparison.

    ``run`` and ``against``: what ``tacho.compare`` takes.
    """
    __tracebackhide__ = True
    for budget in budgets:
        if against is None and not re.search(r"[<>]\s*[0-9.]+\s*[a-z]*$", budget):
            raise ValueError(f"{budget}: a budget of a change takes a run to compare with: against=")
    # A gate says what fails, a budget what is kept.
    gates = {budget.translate(_OPPOSITE): budget for budget in budgets}
    try:
        compared = _run.compare(run if against is None else against, run, fail_on=list(gates), without_bounds=without_bounds)
    except _errors.UsageError as error:
        pytest.fail(f"a budget says what is kept, as in 'decode.step.p50 < 20ms', and one of these does not: {'; '.join(budgets)}. "
                    f"The opposite, as a gate: {error}", pytrace=False)
    broken = [f"{gates.get(gate.gate, gate.gate)} is not kept: {gate.text}" for gate in compared.gates if gate.outcome != "passed"]
    if broken:
        pytest.fail("\n".join(broken), pytrace=False)
    return compared


@pytest.fixture
def tacho_budgets():
    """The function check_budgets."""
    return check_budgets
