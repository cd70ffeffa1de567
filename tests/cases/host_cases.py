"""A CPU engine's time: the own time of an operator is work of its category, also with others inside."""


def cpu_addmm_idle(case):
    for file, parts in (("cpu_linear.json", {"gemm.dense": (10, 970_000), "memory.copy": (10, 20_000), "bookkeeping.view": (10, 10_000)}),
                        ("cpu_linear_nocopy.json", {"gemm.dense": (10, 990_000), "bookkeeping.view": (10, 10_000)})):
        trace = case.trace(file)
        device, = trace["devices"]
        case.check(f"{file}: busy", (device["busy_ns"], device["window_ns"]), (1_000_000, 1_090_000))
        case.check(f"{file}: work by category", {row["category"]: (row["count"], row["total_ns"]) for row in trace["categories"]}, parts)
        case.check(f"{file}: idle by cause", {row["id"]: row["ns"] for row in trace["idle"]["causes"]}, {"host": 90_000})
        addmm = next(row for row in trace["kernels"] if row["name"] == "aten::addmm")
        case.check(f"{file}: an operator's time is one", {addmm[key] * 10 for key in ("min_ns", "p50_ns", "max_ns")}, {parts["gemm.dense"][1]})
        rows = case.rows(file, "SELECT category, count(*) AS n, sum(dur_ns) AS ns FROM kernels GROUP BY 1")
        case.check(f"{file}: query", {row["category"]: (row["n"], row["ns"]) for row in rows}, parts)
    case.says("analyze", "cpu_linear.json", status=0, words=("operators run for 91.7 %", "TOP WORKING OPERATORS", "aten::addmm"))
