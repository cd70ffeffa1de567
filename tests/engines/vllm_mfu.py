"""The figures of vLLM's --enable-mfu-metrics, by vLLM's own classes; run by the Python of its environment.

Reads JSON: [{"model": folder, "tp": ranks, "steps": [[of the prompts: requests, new tokens, all tokens, sums of q*q and q*k; of the
answers: the same without q*q], ...]}, ...]. The last line that it writes is JSON: for each model, [FLOPs, bytes] of each step.
"""
import json
import sys

from vllm.engine.arg_utils import EngineArgs
from vllm.v1.metrics.perf import ExecutionContext, ModelMetrics


def figures(model, tp, steps):
    config = EngineArgs(model=model, dtype="bfloat16", skip_tokenizer_init=True, max_model_len=2048).create_engine_config()
    config.parallel_config.tensor_parallel_size = tp
    metrics = ModelMetrics(config)
    told = []
    for requests, q, k, _, qk, answers, answer_q, answer_k, answer_qk in steps:
        step = ExecutionContext(num_prefill_requests=requests, prefill_num_tokens=q, prefill_context_len=k, prefill_token_context_product=qk,
                                num_decode_requests=answers, decode_num_tokens=answer_q, decode_context_len=answer_k,
                                decode_token_context_product=answer_qk)
        told.append([metrics.get_num_flops(step), metrics.get_read_bytes(step) + metrics.get_write_bytes(step)])
    return told


print(json.dumps([figures(**of) for of in json.load(sys.stdin)]))
