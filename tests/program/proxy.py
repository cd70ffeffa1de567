"""A server between tacho and a simulated engine."""
import http.client
import http.server


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
        return self.answer(answer.status, answer.headers.get("Content-Type", "text/plain"), answer.read())

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
