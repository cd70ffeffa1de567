#include "simulate/trace/trace_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/random.h"
#include "io/gzip_sink.h"

namespace tacho::simulate {
namespace {

namespace fs = std::filesystem;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OwnedFile = std::unique_ptr<std::FILE, FileCloser>;

class FileSink : public ByteSink {
 public:
  explicit FileSink(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {
    if (!file_) error_ = errno;
  }
  bool Write(std::string_view bytes) override {
    if (!file_) return false;
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size()) return true;
    error_ = errno;
    return false;
  }
  bool Close() {
    if (!file_) return false;
    if (std::fclose(file_.release()) == 0) return true;
    error_ = errno;
    return false;
  }
  int error() const { return error_; }

 private:
  OwnedFile file_;
  int error_ = 0;
};

class CountingSink : public ByteSink {
 public:
  bool Write(std::string_view bytes) override {
    count_ += bytes.size();
    return true;
  }
  uint64_t count() const { return count_; }

 private:
  uint64_t count_ = 0;
};

// Passes on only the first `limit` bytes, at a pace at which `whole` bytes take `slow_ns`.
class LimitedSink : public ByteSink {
 public:
  LimitedSink(ByteSink& to, uint64_t limit, uint64_t whole, int64_t slow_ns, std::stop_token stop)
      : to_(to), limit_(limit), whole_(whole), slow_ns_(slow_ns), stop_(std::move(stop)) {}

  bool Write(std::string_view bytes) override {
    constexpr size_t kPiece = 16 << 10;  // small enough that the file is seen to grow
    while (!bytes.empty()) {
      const size_t piece = std::min({bytes.size(), slow_ns_ > 0 ? kPiece : bytes.size(),
                                     static_cast<size_t>(limit_ - done_)});
      if (piece == 0) return false;
      if (!to_.Write(bytes.substr(0, piece))) return false;
      bytes.remove_prefix(piece);
      done_ += piece;
      Wait(piece);
    }
    return true;
  }
  bool reached() const { return done_ >= limit_; }

 private:
  void Wait(size_t piece) {
    if (slow_ns_ == 0 || whole_ == 0) return;
    owed_ns_ +=
        static_cast<double>(slow_ns_) * static_cast<double>(piece) / static_cast<double>(whole_);
    while (owed_ns_ > 5e6 && !stop_.stop_requested()) {
      const double now = std::min(owed_ns_, 20e6);
      std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<int64_t>(now)));
      owed_ns_ -= now;
    }
  }
  ByteSink& to_;
  uint64_t limit_, whole_, done_ = 0;
  int64_t slow_ns_;
  double owed_ns_ = 0;
  std::stop_token stop_;
};

std::string TempName(const std::string& folder) {
  static std::atomic<uint64_t> count = 0;
  const uint64_t id = HashNumber(++count ^ static_cast<uint64_t>(getpid()));
  return fmt::format("{}/tmp{:08x}.json", folder.empty() ? "/tmp" : folder, id & 0xffffffffU);
}

// Copies a file's bytes to a sink, which may compress them.
bool CopyThrough(const std::string& from, ByteSink& to) {
  const OwnedFile in(std::fopen(from.c_str(), "rb"));
  if (!in) return false;
  std::string block(256 << 10, 0);
  for (;;) {
    const size_t got = std::fread(block.data(), 1, block.size(), in.get());
    if (got == 0) return std::ferror(in.get()) == 0;
    if (!to.Write({block.data(), got})) return false;
  }
}

class Writer {
 public:
  Writer(const TraceFile& file, const std::function<bool(ByteSink&)>& content, std::stop_token stop)
      : file_(file), content_(content), stop_(std::move(stop)) {}

  FileOutcome Run() {
    std::error_code error;
    if (file_.makes_folder) fs::create_directories(fs::path(file_.path).parent_path(), error);
    if (error) return Failed(error.message());
    return file_.gzip ? Gzip() : Plain();
  }

 private:
  FileOutcome Failed(const std::string& why) {
    return {FileEnd::kFailed, fmt::format("{}: '{}'", why, file_.path), 0};
  }

  // Writes the JSON to `path`, or only a share of it if `share` is below 1. A fault may lower
  // `share`.
  FileOutcome Json(const std::string& path, double share, int64_t slow_ns) {
    CountingSink count;
    const bool whole = share >= 1;
    if (!whole || slow_ns > 0) content_(count);
    FileSink sink(path);
    const auto limit =
        whole ? UINT64_MAX : static_cast<uint64_t>(static_cast<double>(count.count()) * share);
    LimitedSink limited(sink, limit, count.count(), slow_ns, stop_);
    CountingSink size;
    if (!content_(limited) && !limited.reached()) return Failed(std::strerror(sink.error()));
    if (!sink.Close()) return Failed(std::strerror(sink.error()));
    std::error_code error;
    return {FileEnd::kWritten, "", static_cast<uint64_t>(fs::file_size(path, error))};
  }

  double Share() const { return file_.die || file_.disk_full ? 0.55 : 1; }

  FileOutcome Plain() {
    const std::string temp = file_.path + ".tmp";
    FileOutcome outcome = Json(temp, file_.truncate ? 0.6 : Share(), file_.slow_ns);
    if (outcome.end != FileEnd::kWritten) return outcome;
    if (file_.die) return {FileEnd::kDied, "", 0};
    if (file_.disk_full) return Failed("[Errno 28] No space left on device");
    std::error_code error;
    fs::rename(temp, file_.path, error);
    if (error) return Failed(error.message());
    return outcome;
  }

  FileOutcome Gzip() {
    const std::string json = TempName(file_.temp_folder);
    FileSink(json).Close();
    const int64_t half = file_.slow_ns / 2;
    FileOutcome outcome = Json(json + ".tmp", 1, half);
    std::error_code error;
    if (outcome.end == FileEnd::kWritten) fs::rename(json + ".tmp", json, error);
    if (outcome.end != FileEnd::kWritten || error) {
      fs::remove(json, error);
      fs::remove(json + ".tmp", error);
      return Failed("[Errno 2] No such file or directory");
    }
    auto compressed = Compress(json, outcome.json_bytes, file_.slow_ns - half);
    fs::remove(json, error);
    if (compressed.end != FileEnd::kWritten) return compressed;
    return outcome;
  }

  FileOutcome Compress(const std::string& json, uint64_t json_bytes, int64_t slow_ns) {
    FileSink sink(file_.path);
    const auto share = file_.truncate ? 0.6 : Share();
    // The compressed file is what gets cut, so find its full length first.
    uint64_t limit = UINT64_MAX;
    if (share < 1) {
      CountingSink count;
      GzipSink gzip(count, file_.gzip_level);
      if (!CopyThrough(json, gzip) || !gzip.Finish()) return Failed("cannot compress");
      limit = static_cast<uint64_t>(static_cast<double>(count.count()) * share);
    }
    LimitedSink cut(sink, limit, 0, 0, stop_);
    GzipSink gzip(cut, file_.gzip_level);
    LimitedSink slow(gzip, UINT64_MAX, json_bytes, slow_ns, stop_);
    const bool written = CopyThrough(json, slow) && gzip.Finish();
    if (!sink.Close() || (!written && !cut.reached())) return Failed(std::strerror(sink.error()));
    if (file_.die) return {FileEnd::kDied, "", 0};
    if (file_.disk_full) return Failed("[Errno 28] No space left on device");
    return {FileEnd::kWritten, "", 0};
  }

  const TraceFile& file_;
  const std::function<bool(ByteSink&)>& content_;
  std::stop_token stop_;
};

}  // namespace

FileOutcome WriteTraceFile(const TraceFile& file, const std::function<bool(ByteSink&)>& content,
                           std::stop_token stop) {
  return Writer(file, content, std::move(stop)).Run();
}

bool WriteTextFile(const std::string& path, const std::string& text) {
  FileSink sink(path);
  const bool written = sink.Write(text);
  return sink.Close() && written;
}

}  // namespace tacho::simulate
