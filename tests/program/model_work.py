"""A second, plain computation of the work of a step: FLOPs, bytes and bytes over links of each block, by docs/metrics.md#roofline. And
where the figures of vLLM's --enable-mfu-metrics (vllm/v1/metrics/perf.py of 0.32) count another work."""
import re
from dataclasses import dataclass

DETAILED = re.compile(r"execute_\d+_context_(\d+)\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\)_generation_(\d+)\(sq(\d+)sk(\d+)sqsq\d+sqsk(\d+)\)")


@dataclass(frozen=True)
class Model:
    hidden: int
    width: int  # of the MLP, or of one expert
    heads: int
    kv_heads: int
    vocabulary: int
    layers: int = 1
    experts: int = 0
    chosen: int = 0  # experts of a token
    head: int = 128
    value: int = 2  # bytes of an activation, and of a weight of the router and of lm_head
    weight: int = 2  # bytes of another weight
    cached: int = 2  # bytes of a cached value


def tokens_of(name):
    """Of the prompts (requests, new tokens, all tokens, sums of q*q and q*k), then of the answers (the same without q*q)."""
    return tuple(map(int, DETAILED.match(name).groups()))


def experts_read(model, rows):
    return model.experts * (1 - ((model.experts - model.chosen) / model.experts) ** rows)


def work_of(name, model, ranks=1):
    """Of one step: block -> (FLOPs, bytes, bytes over links), all layers together."""
    cr, cq, ck, cqq, cqk, gr, gq, gk, gqk = tokens_of(name)
    hidden, width, value, head = model.hidden, model.width, model.value, model.head
    m, h, kv = cq + gq, model.heads // ranks, max(1, model.kv_heads / ranks)

    def gemm(rows, inner, columns, weight=model.weight):
        return 2 * rows * inner * columns, value * (rows * inner + rows * columns) + weight * inner * columns, 0
    blocks = {"qkv": gemm(m, hidden, (h + 2 * kv) * head), "output-projection": gemm(m, h * head, hidden),
              "attention": (h * 2 * head * (2 * cqk - cqq + 2 * gqk),
                            2 * head * (value * m * (h + kv) + model.cached * (ck - cq + gk - gq) * kv), 0)}
    if model.experts:
        used, rows = experts_read(model, m) / ranks, m * model.chosen
        blocks["router"] = gemm(m, hidden, model.experts, value)
        blocks["experts-up"] = (2 * rows * hidden * 2 * width / ranks,
                                model.weight * used * hidden * 2 * width + value * (m * hidden + rows * 2 * width / ranks), 0)
        blocks["experts-down"] = (2 * rows * hidden * width / ranks,
                                  model.weight * used * hidden * width + value * (rows * width / ranks + m * hidden), 0)
    else:
        blocks["mlp-up"] = gemm(m, hidden, 2 * width / ranks)
        blocks["mlp-down"] = gemm(m, width / ranks, hidden)
    if ranks > 1:
        blocks["all-reduce"] = (0, 0, 2 * 2 * (ranks - 1) / ranks * m * hidden * value)
    blocks = {block: tuple(model.layers * x for x in work) for block, work in blocks.items()}
    blocks["lm-head"] = gemm(cr + gq, hidden, model.vocabulary / ranks, value)
    return blocks


def what_vllm_adds(name, model, ranks=1):
    """(FLOPs, bytes) that vLLM's figures of the step have beyond those of work_of: attention without its causal mask; an activation of
    its own, which reads and writes its values; the cache as it is written, but not what attention writes; each token of an expert on
    its own, all tokens to other experts as long as there are some, and no router."""
    _, cq, _, cqq, _, _, gq, _, _ = tokens_of(name)
    hidden, width, value = model.hidden, model.width / ranks, model.value
    m, h, kv = cq + gq, model.heads // ranks, max(1, model.kv_heads // ranks)
    flops = h * 2 * model.head * cqq
    moved = 2 * m * kv * model.head * model.cached - m * h * model.head * value
    rows = m * (model.chosen or 1)
    moved += 3 * rows * width * value
    if model.experts:
        flops -= 2 * m * hidden * model.experts
        moved -= value * (m * hidden + hidden * model.experts + m * model.experts)
        moved += value * (2 * (rows - m) * hidden + (min(rows, model.experts) - experts_read(model, m)) * 3 * hidden * width)
    return model.layers * flops, model.layers * moved
