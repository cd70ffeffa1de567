"""Tables of the measurements, in Markdown."""

import re

from measure import Spread

MARKERS = ("<!-- measured:begin -->", "<!-- measured:end -->")


def seconds_of(sample):
    """A reader times itself and leaves out its start; of a command we know the wall time."""
    return sample.line.get("read_s", sample.wall_s)


def seconds(samples):
    return Spread.of(seconds_of(sample) for sample in samples)


def number(value):
    """Three figures, no exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def short_time(value):
    return f"{value * 1000:.3g} ms" if value < 0.1 else f"{value:.3g} s"


def table(header, rows, left=1):
    """A Markdown table; the first `left` columns are text."""
    rule = ["---"] * left + ["--:"] * (len(header) - left)
    lines = [header, rule, *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def trace_table(measured, rivals):
    """All that was measured on one trace in one form."""
    header = ["", "median", "lowest to highest", "CPU s", "MB/s of JSON", "peak MB", "peak B/event",
              *(f"x {rival}" for rival in rivals)]
    rows = []
    for name, samples in measured.samples.items():
        took = seconds(samples)
        peak = Spread.of(sample.peak_bytes for sample in samples).median
        row = [name, short_time(took.median), f"{short_time(took.low)} to {short_time(took.high)}",
               number(Spread.of(sample.cpu_s for sample in samples).median),
               number(measured.json_bytes / took.median / 1e6), number(peak / 1e6),
               number(peak / measured.events)]
        for rival in rivals:
            if rival in measured.samples:
                row.append(number(seconds(measured.samples[rival]).median / took.median))
            else:
                row.append("-")
        rows.append(row)
    return table(header, rows)


def target_table(targets):
    """Rows of (what, must, reach, measured, met); met is None when it was not measured."""
    words = {True: "yes", False: "NO", None: "not measured"}
    return table(["what", "must", "reach for", "measured", "met"],
                 [[*row[:4], words[row[4]]] for row in targets], left=1)


def replace_measured(text, measured, markers=MARKERS):
    """The document with what stands between the markers replaced."""
    begin, end = map(re.escape, markers)
    pattern = re.compile(f"({begin}\n).*?({end})", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"needs one section between {markers[0]} and {markers[1]}")
    return pattern.sub(lambda match: match.group(1) + measured + "\n" + match.group(2), text)
