"""Damaged files, and files that are no traces."""


def gzip_interleaved(case):
    case.says("analyze", "interleaved.trace.json.gz", status=3, never=["is empty"],
              words=["the gzip stream is damaged from its first block (invalid distance too far back)", "several writers of one file?",
                     "2,236 bytes are there"])
    trace = case.trace("zero_tail.trace.json.gz", status=4)
    case.check("whole kernels before the zeros", trace["events"]["by_category"], {"kernel": 878})
    # 3,967,508.17 ns by their decimals; each row is rounded to whole nanoseconds.
    case.check("their sum", abs(trace["devices"][0]["kernel_sum_ns"] - 3_967_508) <= 878 / 2, True)
    case.check("notes", [note["id"] for note in trace["notes"] if note["severity"] == "data-loss"], ["truncated-json", "truncated-gzip"])
    case.says("analyze", "zero_tail.trace.json.gz", status=4, words=["byte 20000: zeros stand where compressed data should"])


def lfs_pointer(case):
    words = ["is a Git LFS pointer: the trace itself (253,291,400 bytes) is not here: git lfs pull"]
    for file in ("rank0.pt.trace.json.gz", "trace.json"):
        case.says("analyze", file, status=3, words=[file, *words])
        case.says("doctor", file, status=3, words=words)
    case.says("analyze", ".", status=3, words=words)
