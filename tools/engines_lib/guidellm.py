"""GuideLLM, another load generator, beside tacho's: how it is installed, called, and what of its report means the same.

It lives in ${TACHO_GUIDELLM:-~/.cache/tacho/guidellm}, which nothing here makes:

  python3 -m venv ~/.cache/tacho/guidellm && ~/.cache/tacho/guidellm/bin/pip install guidellm

(0.8.1 wants torch with 3 GB of CUDA; a .pth file there that names the site-packages of `tools/engines install vllm` spares it.)
"""
import json
import os
from pathlib import Path

from . import bench_serve

ENVIRONMENT = {"HF_HUB_OFFLINE": "1"}


def program():
    """Its command, or None."""
    path = Path(os.environ.get("TACHO_GUIDELLM") or Path.home() / ".cache/tacho/guidellm") / "bin/guidellm"
    return path if path.exists() else None


def command(url, model, prompt, output, requests, at_once, report):
    return [program(), "run", "--backend", f"kind=openai_http,target={url},model={model},request_format=/v1/completions",
            "--profile", f"kind=concurrent,streams={at_once}", "--constraint", f"kind=max_requests,count={requests}",
            "--tokenizer", f"kind=hf_auto,model={bench_serve.tokenizer()}",
            "--data", f"kind=synthetic_text,prompt_tokens={prompt},output_tokens={output}",
            "--output", f"kind=json,path={report}", "--disable-console"]


def figures(report):
    """Its report by the keys of vLLM's result file, as far as both mean the same. Its inter_token_latency_ms is vLLM's TPOT;
    its time_per_output_token_ms (all of a request's time over its tokens) is nothing of vLLM's. Prompts are texts."""
    run = json.loads(Path(report).read_text())["benchmarks"][0]
    metrics = {name: told["successful"] for name, told in run["metrics"].items() if isinstance(told, dict) and "successful" in told}
    totals, seconds = run["metrics"]["request_totals"], run["duration"]
    tokens = metrics["output_token_count"]["total_sum"]
    ttft, tpot, e2e = (metrics[name] for name in ("time_to_first_token_ms", "inter_token_latency_ms", "request_latency"))
    return {"completed": totals["successful"], "failed": totals["errored"] + totals["incomplete"],
            "total_input_tokens": metrics["prompt_token_count"]["total_sum"], "total_output_tokens": tokens, "duration": seconds,
            "request_throughput": totals["successful"] / seconds, "output_throughput": tokens / seconds,
            "mean_ttft_ms": ttft["mean"], "median_ttft_ms": ttft["median"], "p99_ttft_ms": ttft["percentiles"]["p99"],
            "mean_tpot_ms": tpot["mean"], "median_tpot_ms": tpot["median"],
            "mean_e2el_ms": e2e["mean"] * 1e3, "median_e2el_ms": e2e["median"] * 1e3, "p99_e2el_ms": e2e["percentiles"]["p99"] * 1e3}
