"""Logs of RL jobs, with the lines that slime's and vime's launchers print about their router and engines."""
import pathlib
import urllib.parse


class RolloutLog:
    """A job's log of `kind` ("vllm": vime, "sglang": slime), which grows."""

    def __init__(self, path, kind):
        self.path, self.kind, self.lines = str(path), kind, 0
        pathlib.Path(path).write_text("")

    def write_lines(self, *lines):
        with open(self.path, "a") as file:
            for line in lines:
                file.write(line + "\n")
        self.lines += len(lines)

    def engines(self, urls):
        actor = "\x1b[36m(RolloutManager pid=4711)\x1b[0m "
        for i, url in enumerate(urls):
            at = urllib.parse.urlparse(url)
            self.write_lines(f"{actor}Ports for engine {i}: {{'host': '{at.hostname}', 'port': {at.port}, 'nccl_port': {at.port + 1}, "
                             f"'dist_init_addr': '{at.hostname}:{at.port + 2}'}}")
            if self.kind == "vllm":
                self.write_lines(f"(VLLMEngine pid={4800 + i}) Launch vLLM OpenAI api_server at: {at.netloc} (rank={i} node_rank=0/1)")

    def router(self, url):
        self.write_lines(f"(RolloutManager pid=4711) Router launched at {urllib.parse.urlparse(url).netloc}, Prometheus port: 4242")
