"""`vllm bench serve` of the installed vLLM. Its command line asks for the metadata of a package `vllm`, which the CPU build
does not have, so its own main function is called."""
from . import environments

_CALL = ("import sys; from vllm.benchmarks import serve; from vllm.utils.argparse_utils import FlexibleArgumentParser as Parser; "
         "parser = Parser(); serve.add_cli_args(parser); serve.main(parser.parse_args(sys.argv[1:]))")
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "ERROR"}


def command(arguments):
    """The command line for these arguments of `vllm bench serve`; to be run with ENVIRONMENT added."""
    return [str(environments.ensure("vllm")), "-c", _CALL, *map(str, arguments)]


def tokenizer():
    return environments.root() / "tiny-qwen3"
