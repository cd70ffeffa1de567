#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/loopback_port_for_test.h"

namespace tacho {

// How long a test waits for an event: far longer than a busy machine takes, and far shorter than
// ctest's limit, so that the failure can say what the test waited for.
inline constexpr std::chrono::seconds kPatienceForTest{60};

// A plain blocking socket, for peers that speak bad HTTP. Reads and writes fail the test after
// kPatienceForTest.
class RawSocket {
 public:
  explicit RawSocket(FileDescriptor fd);
  static RawSocket ConnectTo(uint16_t port);

  bool Connect(uint16_t port);
  // False if the peer is gone.
  bool Send(std::string_view bytes);
  // Sends pieces of `size` bytes, each in its own packet as far as the kernel allows.
  bool SendInPieces(std::string_view bytes, size_t size);
  // Reads up to and including `end`, or until the peer closes.
  std::string ReadUntil(std::string_view end);
  // Reads a request or an answer with its body, by its Content-Length.
  std::string ReadMessage();
  std::string ReadAll();
  // Closes with a reset.
  void Reset();
  void Close();
  // Ends waiting reads and writes. From any thread, while the socket lives.
  void ShutdownBoth();
  int fd() const { return fd_.get(); }

 private:
  bool ReadMore();
  FileDescriptor fd_;
  std::string input_;
  // Keeps close and shutdown, which different threads call, from running at once.
  std::unique_ptr<std::mutex> closing_ = std::make_unique<std::mutex>();
};

// A server on a free loopback port. It passes its connections to `serve`, one after the other, on
// its own thread.
class RawServer {
 public:
  explicit RawServer(std::function<void(RawSocket&)> serve);
  ~RawServer();
  uint16_t port() const { return listener_.port(); }
  std::string Url(std::string_view path = "/") const;
  int accepted() const { return accepted_; }

 private:
  void Run();

  std::function<void(RawSocket&)> serve_;
  const LoopbackPort listener_;
  std::atomic<int> accepted_ = 0;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  RawSocket* current_ = nullptr;
  std::thread thread_;
};

// Listens on a free loopback port with the shortest queue, and never accepts.
class ShortListener {
 public:
  ShortListener();
  uint16_t port() const { return listener_.port(); }
  RawSocket Accept() const;
  // Fills the queue; the kernel then drops further connections.
  void Fill();
  void Close() { listener_.Close(); }

 private:
  LoopbackPort listener_;
  std::vector<FileDescriptor> fill_;
};

// Keeps what a stream delivers, for a test that waits for it.
class RecordingSink final : public HttpSink {
 public:
  void OnHead(int status, const std::vector<HttpHeader>& headers, int64_t at_ns) override;
  void OnBody(std::string_view bytes, int64_t at_ns) override;
  void OnFoundLate(int64_t until_ns) override { late_until_ns = until_ns; }
  void OnEnd(const Result<HttpTimes>& times) override;

  // Wait for the end of the stream, or for at least `bytes` bytes of the body.
  bool WaitForEnd();
  bool WaitForBytes(size_t bytes);
  // Called on the client's thread after each piece of the body.
  std::function<void()> on_body;

  int heads = 0;
  int status = 0;
  std::vector<HttpHeader> headers;
  std::string body;
  int64_t head_ns = 0;
  int64_t last_ns = 0;
  // When each piece came, by the size of the body up to the end of that piece.
  std::map<size_t, int64_t> came_ns;
  std::atomic<int64_t> late_until_ns = 0;
  int ends = 0;
  Result<HttpTimes> times;
  std::string error() const { return times ? "" : times.error().message; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

// These functions end the test program if they fail. If TACHO_TEST_BY_LIBCURL is in the
// environment, libcurl handles all exchanges of the client.
std::unique_ptr<HttpClient> MakeClient(HttpClientOptions options = {});
std::unique_ptr<HttpServer> MakeServer(const HttpServerOptions& options = {});
// Listens on a free loopback port.
uint16_t ListenOn(HttpServer& server, HttpHandler handler);
std::string LoopbackUrl(uint16_t port, std::string_view path = "/");
// Waits until `holds` is true.
bool Eventually(const std::function<bool()>& holds);

// Waits for a value that another thread delivers.
template <typename T>
T Await(std::future<T> future, const char* what) {
  if (future.wait_for(kPatienceForTest) != std::future_status::ready) {
    std::cerr << "waited 60 s for " << what << std::endl;
    std::abort();
  }
  return future.get();
}

}  // namespace tacho
