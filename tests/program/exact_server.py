"""An engine with exact behaviour, for the tests of `tacho load`: it knows when each token was written, and
misbehaves on request."""
import asyncio
import contextlib
import email.utils
import json
import os
import socket
import threading
import time


class ExactServer:
    """Speaks the completions and the chat of vLLM and the /generate of SGLang.

    `behave(n, request)` names what happens to request n (from 0): "" is an answer in order; see _misbehave. What came
    is kept in `requests`, in order: dicts of path, headers, body, arrived_ns, written_ns (of a stream: when each chunk had
    been written), and first_ns and last_ns, when the first and the last token had been written (CLOCK_MONOTONIC, as the
    client's own).
    """

    # tokenizer: it has one, has none, or has one that "hangs".
    # prompt: its thread has real-time priority, where that is permitted, to write in time beside busy processes.
    def __init__(self, ttft=0.03, gap=0.01, tokens_a_chunk=1, behave=lambda n, request: "", tokenizer=True, model="exact", prompt=False):
        self.ttft, self.gap, self.tokens_a_chunk, self.behave = ttft, gap, tokens_a_chunk, behave
        self.tokenizer, self.model, self.prompt = tokenizer, model, prompt
        self.requests, self.connections, self.most_at_once = [], 0, 0
        self._at_once = 0
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    def __enter__(self):
        self._thread.start()
        if not self._ready.wait(60):
            raise RuntimeError("waited 60 s for the exact server to listen")
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    async def _run(self):
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        if self.prompt:
            with contextlib.suppress(PermissionError):
                os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(2))
        server = await asyncio.start_server(self._serve, sock=self._socket)
        self._ready.set()
        await self._end.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _serve(self, reader, writer):
        self.connections += 1
        # asyncio does so only for sockets whose protocol is named.
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        exchanges = 0
        try:
            while True:
                line = await reader.readline()
                if not line:
                    break
                arrived = time.monotonic_ns()
                method, path, _ = line.decode().split(" ", 2)
                headers = {}
                while (line := (await reader.readline()).strip()):
                    name, _, value = line.decode().partition(":")
                    headers[name.lower()] = value.strip()
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                exchanges += 1
                await self._answer(writer, method, path, headers, body, arrived, exchanges == 1)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, writer, method, path, headers, body, arrived, new_connection):
        if method == "GET" and path == "/v1/models":
            return self._whole(writer, {"object": "list", "data": [{"id": self.model, "object": "model", "max_model_len": 4096}]})
        if path == "/tokenize" and self.tokenizer == "hangs":
            return await asyncio.sleep(3600)
        if path == "/tokenize" and self.tokenizer:
            asked = json.loads(body)
            text = asked["prompt"] if "prompt" in asked else " ".join(m["content"] for m in asked["messages"])
            count = len(text.split())
            return self._whole(writer, {"count": count, "max_model_len": 4096, "tokens": list(range(5, 5 + count))})
        if path not in ("/v1/completions", "/v1/chat/completions", "/generate"):
            return self._whole(writer, {"detail": "Not Found"}, "404 Not Found")
        request = {"path": path, "headers": headers, "body": json.loads(body), "arrived_ns": arrived, "new_connection": new_connection}
        number = len(self.requests)
        self.requests.append(request)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            what = self.behave(number, request)
            if not self._refuse(writer, what):
                await self._generate(writer, request, what)
        finally:
            self._at_once -= 1

    def _whole(self, writer, content, status="200 OK", more=""):
        text = json.dumps(content).encode()
        writer.write(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{more}Content-Length: {len(text)}\r\n\r\n".encode() + text)

    def _refuse(self, writer, what):
        if what == "a page":
            page = b"<html><body>Welcome to the gateway</body></html>"
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(page), page))
            return True
        error = {"error": {"message": "told to refuse", "type": "Test", "param": None, "code": 0}}
        if what == "429":
            self._whole(writer, error, "429 Too Many Requests", "Retry-After: 1\r\n")
        elif what == "429 until":
            now = time.time()
            date = [email.utils.formatdate(at, usegmt=True) for at in (now, now + 2)]
            self._whole(writer, error, "429 Too Many Requests", f"Date: {date[0]}\r\nRetry-After: {date[1]}\r\n")
        elif what == "503":
            self._whole(writer, error, "503 Service Unavailable")
        elif what == "reset":
            writer.transport.abort()
        else:
            return False
        return True

    async def _generate(self, writer, request, what):
        body, path = request["body"], request["path"]
        tokens = body.get("max_tokens") or body["sampling_params"]["max_new_tokens"]
        start = request["arrived_ns"] / 1e9
        chunks = [min(self.tokens_a_chunk, tokens - i) for i in range(0, tokens, self.tokens_a_chunk)]
        if not body.get("stream"):
            await asyncio.sleep(self.ttft + self.gap * (len(chunks) - 1))
            request["first_ns"] = request["last_ns"] = time.monotonic_ns()
            return self._whole(writer, self._content(path, tokens, tokens, " word" * tokens, True, whole=True))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")

        def send(event):
            data = b"data: " + (event if isinstance(event, bytes) else json.dumps(event).encode()) + b"\n\n"
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        if path == "/v1/chat/completions":
            send(self._role())
        told = 0
        for i, count in enumerate(chunks):
            await asyncio.sleep(max(0, start + self.ttft + i * self.gap - time.monotonic()))
            if i == len(chunks) // 2 and await self._misbehave(writer, send, what):
                return
            told += count
            last = i == len(chunks) - 1 and what != "endless"
            send(self._content(path, told, tokens, " word" * count, last))
            await writer.drain()
            request["last_ns"] = time.monotonic_ns()
            request.setdefault("first_ns", request["last_ns"])
            request.setdefault("written_ns", []).append(request["last_ns"])
        while what == "endless":
            told += self.tokens_a_chunk
            send(self._content(path, told, tokens, " word", False))
            await writer.drain()
            await asyncio.sleep(0.001)
        if path != "/generate":
            wrong = told + 5 if what == "wrong usage" else told
            send({"id": "x", "object": "chunk", "choices": [], "usage": self._usage(wrong)})
        send(b"[DONE]")
        writer.write(b"0\r\n\r\n")

    async def _misbehave(self, writer, send, what):
        """In the middle of a stream; true when that was its end."""
        if what == "error inside":
            send({"error": {"message": "Token id 99999 is out of vocabulary", "type": "BadRequestError", "code": 400}})
            send(b"[DONE]")
            writer.write(b"0\r\n\r\n")
            return True
        if what == "break off":
            writer.transport.abort()
            return True
        if what == "stall":
            await asyncio.sleep(3600)
        if what == "slow":
            await asyncio.sleep(1.5)
        return False

    @staticmethod
    def _usage(tokens):
        return {"prompt_tokens": 32, "total_tokens": 32 + tokens, "completion_tokens": tokens}

    @staticmethod
    def _role():
        return {"id": "x", "object": "chat.completion.chunk", "choices": [
            {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}], "usage": ExactServer._usage(0)}

    def _content(self, path, told, tokens, text, last, whole=False):
        reason = "length" if last else None
        if path == "/generate":
            return {"text": " word" * told, "meta_info": {
                "id": "x", "prompt_tokens": 32, "completion_tokens": told, "cached_tokens": 0,
                "finish_reason": {"type": "length", "length": tokens} if last else None}}
        choice = {"index": 0, "finish_reason": reason}
        if path == "/v1/completions":
            choice["text"] = text
        else:
            choice["message" if whole else "delta"] = {"role": "assistant", "content": text} if whole else {"content": text}
        return {"id": "x", "object": "chunk", "created": 1, "model": "exact", "choices": [choice], "usage": self._usage(told)}
