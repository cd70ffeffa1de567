"""A server between tacho and a simulated engine."""
import contextlib
import http.client
import http.server
import threading


class Proxy(http.server.BaseHTTPRequestHandler):
    """Forwards everything to the engine behind it."""
    engine = ""
    refuses = ()  # paths that are answered 400

    def forward(self):
        if self.path in self.refuses:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            return self.answer(400, "application/json", b'{"error": {"message": "refused"}}')
        connection = http.client.HTTPConnection(self.engine.removeprefix("http://"), timeout=30)
        connection.request(self.command, self.path, self.rfile.read(int(self.headers.get("Content-Length", 0))))
        answer = connection.getresponse()
        return self.answer(answer.status, answer.headers.get("Content-Type", "text/plain"), self.changed(answer.read()))

    def changed(self, body):
        return body

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_GET = do_POST = forward

    def log_message(self, *_):
        pass


class QuietServer(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # clients that reject the certificate


@contextlib.contextmanager
def serving(handler):
    """Yields the URL of a server of this class."""
    server = QuietServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def changed(url, change):
    """In front of `url`; each answer's body is what `change` makes of it."""
    return serving(type("Changed", (Proxy,), {"engine": url, "changed": lambda _, body: change(body)}))


def answering(answers):
    """By path, without its query; 404 to others."""
    class Answers(Proxy):
        def forward(self):
            body = answers.get(self.path.split("?")[0])
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.answer(404 if body is None else 200, "application/json", (body or "").encode())
        do_GET = do_POST = forward
    return serving(Answers)
