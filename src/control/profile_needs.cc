#include "control/profile_needs.h"

#include <fmt/format.h>

#include "control/version.h"

namespace tacho {

std::string NotConfiguredText(const EngineFacts& facts) {
  return fmt::format(
      "its profiler is not configured: {}{}", EngineRule(facts.kind, facts.version, "enable"),
      facts.profiler.has_daemon ? "; as it is, tacho record --via daemon profiles it" : "");
}

std::string NoFolderText(const EngineFacts& facts) {
  return fmt::format(
      "does not report where it writes its traces: tacho record needs --trace-dir DIR (the same "
      "disk), or --collect-from HOST:DIR{}",
      facts.kind == EngineKind::kSglang
          ? ", with --output-dir DIR on its machine"
          : "; a vLLM reports it when started with VLLM_SERVER_DEV_MODE=1");
}

std::string UnknownFolderText(const EngineFacts& facts) {
  return fmt::format("does not report where it writes its traces: {}",
                     EngineRule(facts.kind, facts.version, "folder"));
}

}  // namespace tacho
