"""Expected figures that remember which of them were compared, and the table of those that are not."""
import fnmatch

from compare import check

# Everything else in an expectation is compared, for equality. `*` stands for any text.
NOT_COMPARED = {
    "oracle": {
        "oracle, time_unit, file/name, file/json_sha256": "says how the figures were made; the file is known by file/sha256",
        "header/format, header/keys, header/schemaVersion, header/displayTimeUnit": "tacho does not print it",
        "counts/memory_instants": "part of by_phase `i`, which is compared",
        "*avg_ns, kernels/top10": "follows from figures that are compared",
        "devices/*/last_ns": "follows from first_ns and window_ns",
        "devices/*/comm/nccl_events, devices/*/comm/custom_allreduce_events": "tacho counts no events of communication",
        "devices/*/comm/compute_busy_ns, devices/*/comm/nccl_overlapped_by_compute_ns, devices/*/comm/nccl_exposed_ns":
            "tacho counts a memset as compute (docs/metrics.md), the oracle does not",
        "devices/*/busy_with_launch_only_ns, launches/distinct_correlations, launches/orphans*, flows/*": "tacho does not print it",
        "user_annotation*, gpu_user_annotation*": "tacho prints annotations only merged, as PyTorch's averages of them",
    },
    "nsys": {
        "oracle, time_unit, file/name, header/product, header/schema": "says how the figures were made; the file is known by file/sha256",
        "kernels/top10, kernels/table_by_short_name, kernels/distinct_short, kernels/without_api_row": "follows from figures that are compared",
        "*avg_ns, *med_ns, *stdev_sample_ns": "tacho prints other percentiles",
        "devices/*/last_ns": "follows from first_ns and window_ns",
        "devices/*/comm/nccl_events, devices/*/comm/compute_busy_ns, devices/*/comm/nccl_overlapped_by_compute_ns, "
        "devices/*/comm/nccl_exposed_ns": "as of the oracles of Kineto's traces",
        "kern_exec/*, nvtx/*, osrt*": "tacho analyze prints no such table; operators and OS calls are compared with the rows themselves",
    },
    "vllm": {
        "bytes, sha256, top_level_keys": "says which file it is",
        "step_names/*": "tacho prints what they say: phases, requests and tokens, which are compared",
        "first_step_ts": "the same as first_step_unix_ns, which is compared",
        "other_annotations/*": "tacho prints annotations only merged, as PyTorch's averages of them",
    },
    "sglang": {
        "top_level_keys": "says which file it is",
        "unfinished": "tacho does not print it",
        "last_end_us": "reckoned with floating-point numbers: a nanosecond off",
        "annotations/*, gloo/*": "tacho prints annotations only merged, as PyTorch's averages of them",
    },
    "broken": {"bytes, note": "says what the file is"},
}

# Whole expectations that are not compared.
OTHER_FILES = {
    "live-vllm-cpu/expected.json join": "of a load's log, not of a trace",
}

# (file, key): tacho's figure instead of the expectation, and why that is right.
OTHERWISE = {
    ("AMD-AGI+TraceLens/b200/eager_trace.json.gz.oracle.json", "devices/0/comm"):
        (2_119_548 + 21_953, "the oracle does not know multimem_all_reduce_kernel, 2,119,548 ns, as communication"),
}

# Their oracles also end a gap at an event of no length, which is no work: the gaps are reckoned from the file once more, without these.
HAVE_WORK_OF_NO_LENGTH = {
    "facebookresearch+HolisticTraceAnalysis/with_gpu_user_annotation/step_based_trace_2543932.json.gz.oracle.json",
    "pytorch+kineto/tb_plugin/resnet50_num_workers_0.worker0.1623143089861.pt.trace.json.gz.oracle.json",
}


class Expected:
    """A mapping of figures: those that are read count as compared."""

    def __init__(self, figures):
        self.figures, self.taken, self.parts = figures, set(), {}

    def __getitem__(self, key):
        self.taken.add(key)
        value = self.figures[key]
        if isinstance(value, dict):
            value = self.parts.setdefault(key, Expected(value))
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            value = self.parts.setdefault(key, [Expected(one) for one in value])
        return value

    def __contains__(self, key):
        return key in self.figures

    def __iter__(self):
        return iter(self.figures)

    def __bool__(self):
        return bool(self.figures)

    def get(self, key, default=None):
        return self[key] if key in self.figures else default

    def items(self):
        return [(key, self[key]) for key in self.figures]

    def values(self):
        return [self[key] for key in self.figures]

    def plain(self):
        """All of it, as it stands in the file."""
        self.taken |= set(self.figures)
        self.parts = {}
        return self.figures

    def left(self, path=""):
        """The paths of the figures that nothing was compared with."""
        for key, value in self.figures.items():
            if key not in self.taken:
                yield from leaves(value, f"{path}{key}")
            part = self.parts.get(key, [])
            for one in part if isinstance(part, list) else [part]:
                yield from one.left(f"{path}{key}/")


def leaves(value, path):
    if isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, f"{path}/{key}")
    else:
        yield path


def check_all_compared(name, kind, expected):
    """Every figure of an expectation was compared, or stands in the table."""
    patterns = [one for several in NOT_COMPARED[kind] for one in several.split(", ")]
    left = sorted({path for path in expected.left() if not any(fnmatch.fnmatchcase(path, one) for one in patterns)})
    check(f"{name}: figures that were not compared", left, [])


def otherwise(name, key, value):
    """The valid value for this file: the expected one, except for what the table lists."""
    return OTHERWISE.get((name, key), (value,))[0]


def left_out(name):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in OTHER_FILES)
