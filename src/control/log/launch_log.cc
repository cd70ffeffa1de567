#include "control/log/launch_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/words.h"
#include "control/log/log_line.h"

namespace tacho {
namespace {

// The "host:port" that `text` begins with, with or without http://; "" if it begins otherwise.
std::string AddressAt(std::string_view text) {
  std::string scheme = "http://";
  for (std::string_view known : {"http://", "https://"}) {
    if (text.starts_with(known)) {
      scheme = known;
      text.remove_prefix(known.size());
    }
  }
  size_t colon = text.starts_with('[') ? text.find("]:") : text.find(':');
  if (colon == std::string_view::npos || colon == 0) return "";
  if (text[colon] == ']') ++colon;
  size_t end = colon + 1;
  while (end < text.size() && IsDigit(text[end])) ++end;
  std::string_view host = text.substr(0, colon);
  if (end == colon + 1 || host.find_first_of(" \t'\",|") != std::string_view::npos) return "";
  return fmt::format("{}{}:{}", scheme, host, text.substr(colon + 1, end - colon - 1));
}

// The value for `key` in the text of a Python dict, such as 'host': '10.0.0.1', 'port': 15000.
std::string DictValue(std::string_view text, std::string_view key) {
  size_t at = text.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return "";
  text.remove_prefix(at + key.size() + 3);
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" '")));
  return std::string(text.substr(0, text.find_first_of("',} ")));
}

struct Phrase {
  std::string_view words;
  bool router;
};
// An address follows each of these phrases.
constexpr Phrase kPhrases[] = {
    {"Router launched at ", true},                   // slime, vime
    {"Starting router on ", true},                   // vllm-router, sglang-router
    {"Launch vLLM OpenAI api_server at: ", false},   // vime
    {"Launch HttpServerEngineAdapter at: ", false},  // slime
    {"Starting vLLM server on ", false},
    {"Starting vLLM API server on ", false},
    {"Starting vLLM API server 0 on ", false},
    {"Uvicorn running on ", false},  // SGLang, vLLM
};

// Whether the line is that of a node whose engine has its server on another node, as vime writes
// it:
// "(rank=1 node_rank=1/2)".
bool IsFurtherNode(std::string_view rest) {
  constexpr std::string_view kRank = " node_rank=";
  const size_t at = rest.find(kRank);
  return at != std::string_view::npos && !rest.substr(at + kRank.size()).starts_with("0/");
}

void Put(std::vector<LaunchLog::Server>& servers, const std::string& url, uint64_t line) {
  std::erase_if(servers, [&](const LaunchLog::Server& s) { return s.url == url; });
  servers.push_back({url, line});
}

}  // namespace

LaunchLog ReadLaunchLog(std::string_view text) {
  LaunchLog log;
  std::map<std::string, LaunchLog::Server> numbered;  // by the N in "Ports for engine N"
  uint64_t number = 0;
  while (!text.empty()) {
    std::string_view raw = TakeLine(text);
    ++number;
    // Skips lines without a colon, which no server's line is.
    if (raw.find(':') == std::string_view::npos) continue;
    std::string line = WithoutColours(raw);
    std::string_view plain = line;
    if (size_t at = plain.find("Ports for engine "); at != std::string_view::npos) {
      std::string_view rest = plain.substr(at + 17);
      std::string index(rest.substr(0, rest.find(':')));
      std::string host = DictValue(rest, "host"), port = DictValue(rest, "port");
      if (host.find(':') != std::string::npos && !host.starts_with('[')) host = "[" + host + "]";
      if (!host.empty() && !port.empty())
        numbered[index] = {fmt::format("http://{}:{}", host, port), number};
      continue;
    }
    for (const Phrase& phrase : kPhrases) {
      size_t at = plain.find(phrase.words);
      if (at == std::string_view::npos) continue;
      const std::string_view rest = plain.substr(at + phrase.words.size());
      std::string url = IsFurtherNode(rest) ? "" : AddressAt(rest);
      if (!url.empty()) Put(phrase.router ? log.routers : log.engines, url, number);
      break;
    }
  }
  // These come last, so that the launcher's line replaces a server's own line with the same URL.
  for (auto& [index, server] : numbered) Put(log.engines, server.url, server.line);
  return log;
}

}  // namespace tacho
