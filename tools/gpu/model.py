"""A small transformer that decodes: one step takes a token of each sequence and gives the next. All buffers are static, so a step
can be captured as a CUDA graph. Weights are random."""
import contextlib

import torch

LAYERS, WIDTH, HEADS, CONTEXT, VOCABULARY, BATCH = 4, 256, 4, 64, 512, 4
LINEARS = 4 * LAYERS + 1  # of a step
STEP_NAME = f"execute_context_0(0)_generation_{BATCH}({BATCH})"  # as vLLM names a step of decoding


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention, self.before_mlp = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)
        self.register_buffer("keys", torch.zeros(BATCH, HEADS, CONTEXT, WIDTH // HEADS))
        self.register_buffer("values", torch.zeros(BATCH, HEADS, CONTEXT, WIDTH // HEADS))

    def forward(self, x, position):
        q, k, v = (t.view(BATCH, HEADS, 1, WIDTH // HEADS) for t in self.qkv(self.before_attention(x)).chunk(3, dim=-1))
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        scores = torch.softmax(torch.matmul(q, self.keys.transpose(-2, -1)), dim=-1)
        x = x + self.out(torch.matmul(scores, self.values).reshape(BATCH, WIDTH))
        return x + self.down(torch.nn.functional.gelu(self.up(self.before_mlp(x))))


class Decoder(torch.nn.Module):
    """`steps` counts the steps that ran or were replayed."""

    def __init__(self, device):
        super().__init__()
        torch.manual_seed(0)
        self.embedding, self.head = torch.nn.Embedding(VOCABULARY, WIDTH), torch.nn.Linear(WIDTH, VOCABULARY)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.register_buffer("tokens", torch.zeros(BATCH, dtype=torch.long))
        self.register_buffer("position", torch.zeros(1, dtype=torch.long))
        self.to(device)
        self.steps, self.graph = 0, None

    @torch.no_grad()
    def work(self):
        x = self.embedding(self.tokens)
        for layer in self.layers:
            x = layer(x, self.position)
        self.tokens.copy_(self.head(x).argmax(-1))
        self.position.add_(1).remainder_(CONTEXT)

    def capture(self):
        """Captures a step as a graph; returns how many pieces of GPU work (kernels, copies, sets) it has."""
        import cuda_driver
        aside = torch.cuda.Stream()
        with torch.cuda.stream(aside):  # libraries make their handles outside of the capture
            for _ in range(3):
                self.work()
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(self.graph):
            self.work()
        nodes = cuda_driver.graph_nodes(self.graph.raw_cuda_graph())
        self.graph.instantiate()
        return sum(nodes.get(kind, 0) for kind in (cuda_driver.KERNEL, cuda_driver.MEMCPY, cuda_driver.MEMSET))

    def step(self, replay=False, name=STEP_NAME):
        with torch.profiler.record_function(name) if name else contextlib.nullcontext():
            if replay:
                self.graph.replay()
            else:
                self.work()
        self.steps += 1
