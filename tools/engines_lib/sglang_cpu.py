"""sglang.launch_server on a machine without a GPU, from PyPI's wheels: run in SGLang's environment, takes its arguments.

The top level also runs in the scheduler and the detokenizer, which import this file again as __mp_main__; so both
stand-ins are in every process. What is replaced, and nothing else:
 1. torchvision's C++ operators: its wheel is a CUDA build whose library cannot load; two operator schemas are declared so
    that `import torchvision` succeeds.
 2. the package sgl_kernel, which has no CPU wheel: every name in it is an object that raises when called. On a CPU
    without AMX a dense Qwen3 runs on SGLang's own torch fallbacks and calls none of them.
"""
import importlib.machinery
import os
import sys
import types

os.environ.setdefault("SGLANG_USE_CPU_ENGINE", "1")

import torch  # noqa: E402  (after the setting above)

torchvision_operators = torch.library.Library("torchvision", "DEF")
for name in ("nms", "qnms"):
    torchvision_operators.define(name + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


class Missing:
    def __init__(self, name):
        self.__name__ = self.__qualname__ = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")

    def __call__(self, *_, **__):
        raise NotImplementedError(f"{self.__name__}: sgl_kernel has no CPU wheel")


class MissingModule(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")


PARTS = ("elementwise utils quantization speculative kvcacheio memory scalar_type sparse_flash_attn flash_attn flash_mla"
         " top_k sampling allreduce spatial mamba attention moe gemm grammar")
for name in ["sgl_kernel"] + ["sgl_kernel." + part for part in PARTS.split()]:
    module = MissingModule(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    module.__file__, module.__version__ = __file__, "0"
    sys.modules[name] = module
    parent, _, part = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], part, module)

if __name__ == "__main__":
    import sglang.launch_server
    from sglang.srt.server_args import prepare_server_args
    from sglang.srt.utils import kill_process_tree
    try:
        sglang.launch_server.run_server(prepare_server_args(sys.argv[1:]))
    finally:
        kill_process_tree(os.getpid(), include_parent=False)
