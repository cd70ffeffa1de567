"""The CUDA driver through ctypes, where torch has no function: what a captured graph holds, kernels of our own, launches with attributes.

torch's context has to be current: `torch.cuda.init()` and one operator before. Every call that fails raises CudaError.
"""
import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_ubyte, c_void_p

KERNEL, MEMCPY, MEMSET = 0, 1, 2  # CUgraphNodeType: the nodes that are a piece of GPU work each
PROGRAMMATIC_STREAM_SERIALIZATION = 6  # CUlaunchAttributeID


class CudaError(Exception):
    """A call of the driver that failed, and its reason."""


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute: the value is a union of 64 bytes at offset 8."""
    _fields_ = [("id", c_int), ("pad", c_int), ("value", c_int), ("rest", c_ubyte * 60)]


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""
    _fields_ = [("grid", c_uint * 3), ("block", c_uint * 3), ("shared_bytes", c_uint), ("stream", c_void_p),
                ("attributes", ctypes.POINTER(LaunchAttribute)), ("attribute_count", c_uint)]


assert ctypes.sizeof(LaunchAttribute) == 72 and ctypes.sizeof(LaunchConfig) == 56


def call(name, *arguments):
    library = ctypes.CDLL("libcuda.so.1")
    status = getattr(library, name)(*arguments)
    if status:
        text = c_char_p()
        library.cuGetErrorString(status, byref(text))
        raise CudaError(f"{name}: error {status}, {(text.value or b'of no name').decode()}")


def graph_nodes(graph):
    """How many nodes of each type (CUgraphNodeType) a captured graph (cudaGraph_t, as a number) has: {type: count}."""
    count = c_size_t()
    call("cuGraphGetNodes", c_void_p(graph), None, byref(count))
    nodes = (c_void_p * count.value)()
    call("cuGraphGetNodes", c_void_p(graph), nodes, byref(count))
    types = {}
    for node in nodes:
        kind = c_int()
        call("cuGraphNodeGetType", c_void_p(node), byref(kind))
        types[kind.value] = types.get(kind.value, 0) + 1
    return types


class Module:
    """A module of PTX text, which the driver compiles for the GPU at hand. It stays loaded until the program ends."""

    def __init__(self, ptx):
        self.handle = c_void_p()
        call("cuModuleLoadData", byref(self.handle), c_char_p(ptx.encode()))

    def function(self, name):
        found = c_void_p()
        call("cuModuleGetFunction", byref(found), self.handle, c_char_p(name.encode()))
        return found


def launch(function, stream, values, programmatic=False):
    """Launches `function` with one thread on a stream of torch. `values`: its parameters as ctypes values. With `programmatic` it may
    begin before its predecessor of the stream has ended (programmatic dependent launch)."""
    attribute = LaunchAttribute(PROGRAMMATIC_STREAM_SERIALIZATION, 0, 1)
    config = LaunchConfig((c_uint * 3)(1, 1, 1), (c_uint * 3)(1, 1, 1), 0, stream.cuda_stream,
                          ctypes.pointer(attribute), 1 if programmatic else 0)
    parameters = (c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    call("cuLaunchKernelEx", byref(config), function, parameters, None)


def set_bytes(tensor, value, stream):
    """cuMemsetD8Async over a whole tensor."""
    call("cuMemsetD8Async", c_uint64(tensor.data_ptr()), c_ubyte(value), c_size_t(tensor.nbytes), c_void_p(stream.cuda_stream))
