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

// How long a test waits for what must come: far longer than a busy machine takes, far shorter than
// ctest waits for the test. What it waited for is said when it did not come.
inline constexpr std::chrono::seconds kPatienceForTest{60};

// A plain blocking socket, for peers that speak HTTP badly. Reads and writes give up after
// kPatienceForTest, which is a failure of the test.
class RawSocket {
 public:
  explicit RawSocket(FileDescriptor fd);
  static RawSocket ConnectTo(uint16_t port);

  bool Connect(uint16_t port);
  // False when the peer is gone.
  bool Send(std::string_view bytes);
  // In pieces of `size` bytes, each a packet of its own as far as the kernel lets it.
  bool SendInPieces(std::string_view bytes, size_t size);
  // What came up to and with `end`; less when the peer ended before.
  std::string ReadUntil(std::string_view end);
  // A request or an answer with its body, by its Content-Length.
  std::string ReadMessage();
  std::string ReadAll();
  // Closes with a reset instead of in order.
  void Reset();
  void Close();
  // Ends reads and writes that wait. Any thread, as long as the socket lives.
  void ShutdownBoth();
  int fd() const { return fd_.get(); }

 private:
  bool ReadMore();
  FileDescriptor fd_;
  std::string input_;
  // Whoever closes the socket keeps off who shuts it down from another thread.
  std::unique_ptr<std::mutex> closing_ = std::make_unique<std::mutex>();
};

// A server on a free loopback port that gives each connection to `serve`, one after the other, on a
// thread of its own.
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

// Listens on a free loopback port with the shortest queue of connections, which nobody takes.
class ShortListener {
 public:
  ShortListener();
  uint16_t port() const { return listener_.port(); }
  RawSocket Accept() const;
  // A full queue drops what comes.
  void Fill();
  void Close() { listener_.Close(); }

 private:
  LoopbackPort listener_;
  std::vector<FileDescriptor> fill_;
};

// Keeps what a stream says, for a test that waits.
class RecordingSink final : public HttpSink {
 public:
  void OnHead(int status, const std::vector<HttpHeader>& headers, int64_t at_ns) override;
  void OnBody(std::string_view bytes, int64_t at_ns) override;
  void OnFoundLate(int64_t until_ns) override { late_until_ns = until_ns; }
  void OnEnd(const Result<HttpTimes>& times) override;

  // Waits: for the end, for a body of that many bytes.
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
  std::map<size_t, int64_t> came_ns;  // by the size of the body with it
  std::atomic<int64_t> late_until_ns = 0;
  int ends = 0;
  Result<HttpTimes> times;
  std::string error() const { return times ? "" : times.error().message; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

// They end the test program when they cannot be made. With TACHO_TEST_BY_LIBCURL in the environment
// libcurl carries all exchanges of the client.
std::unique_ptr<HttpClient> MakeClient(HttpClientOptions options = {});
std::unique_ptr<HttpServer> MakeServer(const HttpServerOptions& options = {});
// Listens on a free loopback port.
uint16_t ListenOn(HttpServer& server, HttpHandler handler);
std::string LoopbackUrl(uint16_t port, std::string_view path = "/");
// Waits until it holds.
bool Eventually(const std::function<bool()>& holds);

// Waits for a value that another thread gives.
template <typename T>
T Await(std::future<T> future, const char* what) {
  if (future.wait_for(kPatienceForTest) != std::future_status::ready) {
    std::cerr << "waited 60 s for " << what << std::endl;
    std::abort();
  }
  return future.get();
}

}  // namespace tacho
