// Rival: simdjson On-Demand, as a good programmer would use it to read a trace into columns.
//
// Takes ts, dur, name, cat, pid and tid of every event; names and the like become numbers through
// a hash table. Args are skipped, which tacho does not do. Times are doubles, as simdjson gives
// them. A .gz file goes through zlib.
//
// By default the file is read in chunks cut at event borders: simdjson's index needs as much
// memory as the text, and it cannot take 4 GiB at once. `--whole` hands it the file in one piece;
// so does a layout whose events do not start on lines of their own.
//
// Prints one line of JSON: {"bytes": of the file, "json_bytes": of its text, "events": n,
// "read_s": seconds, "trace_bytes": of the columns}.
#include <simdjson.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tacho::bench {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kChunk = 1 << 20;
constexpr std::string_view kEventStart = "\n  {";
constexpr std::string_view kEventsEnds[] = {"\n  ]", "\n]"};

class Source {
 public:
  explicit Source(const std::string& path) : is_gzip_(path.ends_with(".gz")) {
    if (is_gzip_) {
      gzip_ = gzopen(path.c_str(), "rb");
      if (gzip_ != nullptr) gzbuffer(gzip_, 512 * 1024);
    } else {
      plain_ = std::fopen(path.c_str(), "rb");
      if (plain_ != nullptr) std::setvbuf(plain_, nullptr, _IONBF, 0);
    }
    if (gzip_ == nullptr && plain_ == nullptr) {
      throw std::runtime_error(path + ": " + std::strerror(errno));
    }
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() {
    if (gzip_ != nullptr) gzclose(gzip_);
    if (plain_ != nullptr) std::fclose(plain_);
  }

  std::size_t Read(char* to, std::size_t size) {
    std::size_t got = 0;
    if (is_gzip_) {
      const int read = gzread(gzip_, to, static_cast<unsigned>(size));
      if (read < 0) throw std::runtime_error("damaged gzip stream");
      got = static_cast<std::size_t>(read);
    } else {
      got = std::fread(to, 1, size, plain_);
    }
    total_ += got;
    return got;
  }

  std::size_t total() const { return total_; }

 private:
  bool is_gzip_;
  gzFile gzip_ = nullptr;
  std::FILE* plain_ = nullptr;
  std::size_t total_ = 0;
};

class Interner {
 public:
  std::uint32_t Id(std::string_view text) {
    const auto found = ids_.find(text);
    if (found != ids_.end()) return found->second;
    const auto id = static_cast<std::uint32_t>(ids_.size());
    ids_.emplace(text, id);
    return id;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
};

// A column of texts most of which equal the one before.
class TextColumn {
 public:
  std::uint32_t Id(std::string_view text, Interner& strings) {
    if (text != last_) {
      last_ = text;
      last_id_ = strings.Id(text);
    }
    return last_id_;
  }

 private:
  std::string last_;
  std::uint32_t last_id_ = 0;
};

struct Columns {
  std::vector<double> ts, dur;
  std::vector<std::uint32_t> name, cat, pid, tid;
  TextColumn cats, pids, tids;
  Interner strings;

  std::size_t Bytes() const {
    return (ts.capacity() + dur.capacity()) * sizeof(double) +
           (name.capacity() + cat.capacity() + pid.capacity() + tid.capacity()) *
               sizeof(std::uint32_t);
  }
};

void ReadEvent(ondemand::object event, Columns& columns) {
  double ts = 0;
  double dur = 0;
  std::uint32_t name = 0;
  std::uint32_t cat = 0;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  for (auto field : event) {
    const ondemand::raw_json_string key = field.key();
    const char* text = key.raw();
    switch (text[0]) {
      case 't':
        if (key.unsafe_is_equal("ts")) ts = field.value().get_double();
        if (key.unsafe_is_equal("tid")) {
          tid = columns.tids.Id(field.value().raw_json_token(), columns.strings);
        }
        break;
      case 'd':
        if (key.unsafe_is_equal("dur")) dur = field.value().get_double();
        break;
      case 'n':
        if (key.unsafe_is_equal("name")) {
          name = columns.strings.Id(std::string_view(field.value().get_string()));
        }
        break;
      case 'c':
        if (key.unsafe_is_equal("cat")) {
          cat = columns.cats.Id(std::string_view(field.value().get_string()), columns.strings);
        }
        break;
      case 'p':
        if (key.unsafe_is_equal("pid")) {
          pid = columns.pids.Id(field.value().raw_json_token(), columns.strings);
        }
        break;
      default:
        break;
    }
  }
  columns.ts.push_back(ts);
  columns.dur.push_back(dur);
  columns.name.push_back(name);
  columns.cat.push_back(cat);
  columns.pid.push_back(pid);
  columns.tid.push_back(tid);
}

void ReadArray(ondemand::array events, Columns& columns) {
  for (ondemand::object event : events) ReadEvent(event, columns);
}

// The text of a file from `begin` to `end`, with room for the padding that simdjson reads past it.
class Window {
 public:
  Window() : text_(kChunk + simdjson::SIMDJSON_PADDING) {}

  // Reads on behind what is there; false at the end of the source.
  bool Fill(Source& source) {
    if (text_.size() < end_ + kChunk + simdjson::SIMDJSON_PADDING) {
      text_.resize(end_ + kChunk + simdjson::SIMDJSON_PADDING);
    }
    const std::size_t got = source.Read(text_.data() + end_, kChunk);
    end_ += got;
    return got > 0;
  }

  std::string_view View() const { return {text_.data() + begin_, end_ - begin_}; }
  char* data() { return text_.data() + begin_; }
  std::size_t capacity() const { return text_.size() - begin_; }
  void DropFirst(std::size_t size) { begin_ += size; }

  // Moves what is left to the front.
  void Compact() {
    std::memmove(text_.data(), text_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }

 private:
  std::vector<char> text_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

void ReadWhole(Window& window, Source& source, Columns& columns) {
  while (window.Fill(source)) {
  }
  ondemand::parser parser;
  ondemand::document document =
      parser.iterate(window.data(), window.View().size(), window.capacity());
  ReadArray(document["traceEvents"], columns);
}

// True when the list of events begins in the window and its events start on lines of their own.
bool SkipHeader(Window& window) {
  const std::size_t key = window.View().find("\"traceEvents\"");
  if (key == std::string_view::npos) return false;
  const std::size_t bracket = window.View().find('[', key);
  if (bracket == std::string_view::npos) return false;
  if (window.View().find(kEventStart, bracket) == std::string_view::npos) return false;
  window.DropFirst(bracket + 1);
  return true;
}

void ReadChunks(Window& window, Source& source, Columns& columns) {
  ondemand::parser parser;
  for (bool more = true; more;) {
    // The window begins behind a bracket or a comma and ends in the middle of an event.
    const std::size_t cut = window.View().rfind(kEventStart);
    if (cut != std::string_view::npos && cut > 0) {
      const std::size_t comma = window.View().rfind(',', cut);
      window.data()[-1] = '[';
      window.data()[comma] = ']';
      ondemand::document document =
          parser.iterate(window.data() - 1, comma + 2, window.capacity() + 1);
      ReadArray(document.get_array(), columns);
      window.DropFirst(comma);
      window.Compact();
      window.DropFirst(1);
    }
    more = window.Fill(source);
  }
  std::size_t end = std::string_view::npos;
  for (const std::string_view text : kEventsEnds) {
    if (end == std::string_view::npos) end = window.View().rfind(text);
  }
  if (end == std::string_view::npos) throw std::runtime_error("the list of events has no end");
  window.data()[-1] = '[';
  window.data()[end] = ']';
  ondemand::document document = parser.iterate(window.data() - 1, end + 2, window.capacity() + 1);
  ReadArray(document.get_array(), columns);
}

int Main(int argc, char** argv) {
  const bool whole = argc == 3 && std::strcmp(argv[1], "--whole") == 0;
  if (argc != 2 && !whole) {
    std::fprintf(stderr, "usage: simdjson_read [--whole] FILE\n");
    return 2;
  }
  const std::string path = argv[argc - 1];
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    std::fprintf(stderr, "simdjson_read: %s: %s\n", path.c_str(), std::strerror(errno));
    return 3;
  }
  try {
    const auto begin = std::chrono::steady_clock::now();
    Columns columns;
    Source source(path);
    Window window;
    window.Fill(source);
    if (!whole && SkipHeader(window)) {
      ReadChunks(window, source, columns);
    } else {
      ReadWhole(window, source, columns);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf(
        "{\"bytes\": %lld, \"json_bytes\": %zu, \"events\": %zu, \"read_s\": %.6f, "
        "\"trace_bytes\": %zu}\n",
        static_cast<long long>(status.st_size), source.total(), columns.ts.size(), seconds.count(),
        columns.Bytes());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simdjson_read: %s: %s\n", path.c_str(), error.what());
    return 3;
  }
  return 0;
}

}  // namespace
}  // namespace tacho::bench

int main(int argc, char** argv) { return tacho::bench::Main(argc, argv); }
