#!/usr/bin/env python3
"""What `tacho analyze` says of the layers and blocks of random models: dense, with experts, hybrid with state spaces, of 1 to 96
layers, on 1 to 8 ranks, in graphs and eager, with a second stream, with lost rows. Each kernel is written here with its layer and
its block, and the times of both, and of graphs, are added up anew.

usage: check_random_models.py TACHO [--only NAME ...]
"""
import collections
import json
import pathlib
import random

from scenario import check, main, run

MODELS = 200
GEMM = "nvjet_tst_64x{}_64x16_2x1_2cta_h_bz_TNT"
NORM, ADD_NORM = "void vllm::rms_norm_kernel<c10::BFloat16>", "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>"
FLASH = "cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::enable_sm80_to_sm89<flash::CollectiveMainloopFwdSm90>>>"
ACTIVATION = "void vllm::act_and_mul_kernel<c10::BFloat16>"
SPLIT = "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>"
ALL_REDUCES = ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>",
               "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)")
MAIN, SIDE = 7, 8  # streams

# A piece of work: its kernel, its block, its stream.
Piece = collections.namedtuple("Piece", "name block stream", defaults=[MAIN])


def product(dice, block, stream=MAIN):
    pieces = [Piece(GEMM.format(dice.choice([64, 128, 192])), block, stream)]
    return pieces + [Piece(SPLIT, block)] if stream == MAIN and dice.random() < 0.2 else pieces


class Model:
    """The pieces of each layer, and those before and after the layers."""

    def __init__(self, dice):
        self.ranks = dice.choice([1, 2, 4, 8])
        self.reduce = [Piece(dice.choice(ALL_REDUCES), "all-reduce")] if self.ranks > 1 else []
        self.qk_norm, self.side = dice.random() < 0.3, dice.random() < 0.5
        count = dice.choice([1, 2, 3, 4, 8, dice.randint(5, 96), 96])
        kinds = self.kinds(dice, count)
        made = {kind: self.layer(dice, *kind) for kind in sorted(set(kinds))}
        self.layers = [list(made[kind]) for kind in kinds]
        self.layers[0][0] = Piece(NORM, "norm")
        self.before = [Piece("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>>", "input-preparation"),
                       Piece("triton_poi_fused_embedding_0", "embedding")]
        self.after = [Piece(ADD_NORM, "final-norm"), *product(dice, "lm-head"),
                      Piece("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>>>", "sampling")]

    @staticmethod
    def kinds(dice, count):
        """(mixer, what follows it) of each layer. Each kind is there twice or more, but for the first layer's."""
        mlp = dice.choice(["mlp", "experts"])
        shape = dice.choice(["uniform", "first-dense", "alternating", "hybrid"]) if count >= 8 else "uniform"
        if shape == "first-dense":
            dense = dice.randint(1, 3)
            return [("attention", "mlp" if i < dense else "experts") for i in range(count)]
        if shape == "alternating":
            return [("attention", "mlp" if i % 2 == 0 else "experts") for i in range(count)]
        if shape == "hybrid":
            period = dice.choice([2, 4])
            return [("attention" if i % period == period - 1 else "state-space", mlp) for i in range(count)]
        return [("attention", mlp)] * count

    def layer(self, dice, mixer, mlp):
        pieces = [Piece(ADD_NORM, "norm"), *product(dice, "qkv")]
        if mixer == "attention":
            pieces += [Piece(NORM, "rope-kv-write")] * 2 if self.qk_norm else []
            pieces += [Piece("void vllm::rotary_embedding_kernel<c10::BFloat16, true>", "rope-kv-write"),
                       Piece("void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>", "rope-kv-write"), Piece(FLASH, "attention")]
            pieces += [Piece("void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128>>", "attention")] if dice.random() < 0.3 else []
        else:
            pieces += [Piece("_causal_conv1d_update_kernel", "state-space"), Piece("fused_recurrent_gated_delta_rule_fwd_kernel", "state-space"),
                       Piece("_layer_norm_fwd_1pass_kernel", "norm")]
        pieces += [*product(dice, "output-projection"), *self.reduce, Piece(ADD_NORM, "norm")]
        if mlp == "mlp":
            return pieces + [*product(dice, "mlp-up"), Piece(ACTIVATION, "activation"), *product(dice, "mlp-down"), *self.reduce]
        if self.side:
            pieces += [*product(dice, "shared-expert", SIDE), Piece(ACTIVATION, "shared-expert", SIDE), *product(dice, "shared-expert", SIDE)]
        exchange = self.ranks > 1 and dice.random() < 0.5
        return pieces + [*product(dice, "router"), Piece("void vllm::moe::topkGating<8, 128, 4, 16, 32>", "router"),
                         *[Piece("void deep_ep::intranode::dispatch<8, 768, 8192>", "dispatch")] * exchange,
                         Piece("fused_moe_kernel", "experts-up"), Piece(ACTIVATION, "experts-up"), Piece("fused_moe_kernel", "experts-down"),
                         Piece("void vllm::moe::moe_sum_kernel<c10::BFloat16, 8>", "experts-down"),
                         *[Piece("void deep_ep::intranode::combine<__nv_bfloat16, 8, 768, 4096>", "combine")] * exchange, *self.reduce]

    def pieces(self):
        """Every piece of a step with its layer; None outside of layers."""
        return ([(None, piece) for piece in self.before] + [(i, piece) for i, layer in enumerate(self.layers) for piece in layer]
                + [(None, piece) for piece in self.after])


class Trace:
    def __init__(self, dice, model):
        self.events, self.truth = [], collections.Counter()  # truth: (phase, layer, block, "count" | "device" | "gap") -> sum
        self.dice, self.model, self.now, self.correlation = dice, model, 1_000_000, 1
        self.graphs, self.replayed = dice.random() < 0.5, []

    def event(self, category, name, start, duration, track, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "ts": start / 1000, "dur": duration / 1000, "pid": track[0], "tid": track[1],
                            "args": args})

    def launch(self, name, track=(1, 1)):
        self.correlation += 1
        self.event("cuda_runtime", name, self.now, 300, track, correlation=self.correlation)
        self.now += 400
        return self.correlation

    def step(self, phase, requests, lost=None):
        """`lost`: the number of the piece that has no row; such a step does not count."""
        begin, pieces = self.now, self.model.pieces()
        graph = self.launch("cudaGraphLaunch") if self.graphs and phase == "decode" else None
        correlations = [graph or self.launch("cudaLaunchKernel") for _ in pieces]
        free, rows = {MAIN: self.now, SIDE: self.now}, []
        for number, ((layer, piece), correlation) in enumerate(zip(pieces, correlations)):
            # The side stream starts with what is on the main stream at that moment, and runs beside it.
            start = free[piece.stream] if piece.stream == MAIN else max(free[SIDE], free[MAIN] - 500)
            start += self.dice.randint(1, 900)
            duration = self.dice.randint(1000, 9000)
            free[piece.stream] = start + duration
            if piece.stream == MAIN and piece.block == "experts-up":  # the second stream is waited for
                free[MAIN] = max(free.values())
            rows.append((start, start + duration, layer, piece.block))
            if number != lost:
                self.replayed.append(duration if graph else 0)
                self.event("kernel", piece.name, start, duration, (0, piece.stream), device=0, stream=piece.stream, correlation=correlation)
        self.now = max(free.values()) + 5000
        context, generation = (0, requests) if phase == "decode" else (requests, 0)
        name = f"execute_context_{context}({context * 100})_generation_{generation}({generation})"
        self.event("user_annotation", name, begin - 50, self.now - begin - 50, (1, 1))
        if lost is None:
            self.add(phase, sorted(rows))

    def add(self, phase, rows):
        until = rows[0][0]
        for start, end, layer, block in rows:
            key = (phase, layer, block)
            self.truth[(*key, "count")] += 1
            self.truth[(*key, "gap")] += max(0, start - until)
            self.truth[(*key, "device")] += max(0, end - max(start, until))
            until = max(until, end)


def told_of(layers):
    told = collections.Counter()
    for phase in layers["phases"]:
        rows = [(None, block) for block in phase["outside"]] + [(row["index"], block) for row in phase["list"] for block in row["blocks"]]
        for layer, block in rows:
            for key in ("count", "device", "gap"):
                told[(phase["phase"], layer, block["id"], key)] += block[key if key == "count" else key + "_ns"]
    return told


def models(folder):
    dice = random.Random(96)
    kinds = collections.Counter()
    for number in range(MODELS):
        model = Model(dice)
        trace = Trace(dice, model)
        steps = [("prefill" if dice.random() < 0.3 else "decode", dice.choice([1, 4, 32])) for _ in range(dice.randint(3, 6))]
        lost = dice.randrange(len(steps)) if dice.random() < 0.3 else None
        if trace.graphs and sum(phase == "decode" for phase, _ in steps) < 4:
            lost = None  # of two graphs nothing says which of them lacks a row
        for i, (phase, requests) in enumerate(steps):
            trace.step(phase, requests, dice.randrange(3, len(model.pieces()) - 3) if i == lost else None)
        path = pathlib.Path(folder) / f"model{number}.json"
        path.write_text(json.dumps({"traceEvents": trace.events}))
        done = run("analyze", str(path), "--json")
        told_trace = json.loads(done.stdout)["traces"][0]
        layers, graphs = told_trace["layers"], told_trace.get("graphs", {}).get("list", [])
        count, what = len(model.layers), f"model {number}: {len(model.layers)} layers, graphs {trace.graphs}, lost {lost}, steps {steps}"
        kinds[layers["state"], lost is not None] += 1
        replays = sum(phase == "decode" for phase, _ in steps) if trace.graphs else 0
        check(f"{what}: its graph", [(g["nodes"], g["replays"] + g["partial"], g["partial"]) for g in graphs]
              == ([(len(model.pieces()), replays, int(lost is not None and steps[lost][0] == "decode"))] if replays else []), graphs)
        check(f"{what}: work of the graph", sum(g["work_ns"] for g in graphs) == sum(trace.replayed), trace.replayed)
        if count == 1:
            check(f"{what}: one layer does not repeat", layers["state"] == "no-repetition", layers["state"])
            continue
        check(f"{what}: layers", (layers["state"], layers["count"]) == ("found", count), (layers["state"], layers["count"]))
        told, truth = told_of(layers), +trace.truth
        off = [(key, told[key], truth[key]) for key in sorted(set(told) | set(truth), key=str) if told[key] != truth[key]]
        check(f"{what}: every layer and block", not off, off[:6])
        path.unlink()
    check("most models have layers, some have lost rows", kinds["found", False] > 100 and kinds["found", True] > 30, kinds)


main([models], __doc__)
