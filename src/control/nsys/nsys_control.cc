#include "control/nsys/nsys_control.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <thread>

#include "base/drawn_share.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "control/nsys/nsys_launch.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNsysAnswersWithin{60'000}, kNsysStopsWithin{600'000}, kNsysGrace{3'000};
constexpr milliseconds kAgentEndsWithin{5'000}, kLookAtAgents{50};
constexpr size_t kMostNsysText = 1 << 20, kNsysTail = 4096;

// Runs nsys to its end. Reads both of its outputs, because nsys reports errors on either.
Result<std::string> AskNsys(std::vector<std::string> words, milliseconds patience,
                            const std::function<void(double)>& on_share = {}) {
  const std::string name = "nsys " + words.at(1);
  TACHO_ASSIGN_OR_RETURN(Subprocess process, Subprocess::Start({.arguments = std::move(words),
                                                                .name = name,
                                                                .patience = patience,
                                                                .grace = kNsysGrace}));
  std::string text;
  std::array<char, 4096> piece;
  while (const size_t got = process.Read(piece.data(), piece.size())) {
    text.append(piece.data(), got);
    if (text.size() > kMostNsysText) text.erase(0, text.size() - kNsysTail);
    if (const auto share = LastShareIn(text); on_share && share) on_share(*share);
  }
  if (const auto ended = process.Finish(); !ended) {
    std::string_view said = Trim(text);
    said.remove_prefix(std::min(said.size(), said.find_last_of("\r\n") + 1));
    Error error = ended.error();
    if (!said.empty()) error.message += ": " + std::string(Trim(said));
    return tl::unexpected(std::move(error));
  }
  return text;
}

}  // namespace

NsysControl::NsysControl(std::string program, std::string version)
    : program_(std::move(program)),
      version_(std::move(version)),
      start_help_(AskNsys({program_, "start", "--help"}, kNsysAnswersWithin).value_or("")) {}

Result<std::vector<NsysSession>> NsysControl::Sessions() const {
  TACHO_ASSIGN_OR_RETURN(const std::string list,
                         AskNsys({program_, "sessions", "list"}, kNsysAnswersWithin));
  return NsysSessionsIn(list);
}

Result<void> NsysControl::Start(const std::vector<std::string>& words) const {
  TACHO_RETURN_IF_ERROR(AskNsys(words, kNsysAnswersWithin));
  return {};
}

Result<void> NsysControl::Stop(const std::vector<std::string>& words, milliseconds patience,
                               const std::function<void(double)>& on_share) const {
  TACHO_RETURN_IF_ERROR(
      AskNsys(words, patience.count() > 0 ? patience : kNsysStopsWithin, on_share));
  return {};
}

std::vector<std::string> NsysControl::StartWords(const std::string& session,
                                                 const std::string& report) const {
  return NsysStartWords({.program = program_, .session = session, .report = report}, start_help_);
}

std::vector<std::string> NsysControl::StopWords(const std::string& session) const {
  return NsysStopWords(program_, session);
}

void EndNsysSession(const std::string& program, const std::string& session) {
  const auto agents = [&] {
    std::vector<NsysAgent> all = NsysAgents();
    std::erase_if(all, [&](const NsysAgent& agent) { return agent.session != session; });
    return all;
  };
  if (agents().empty()) return;
  (void)AskNsys({program, "shutdown", "--session=" + session, "--kill=sigterm"},
                kNsysAnswersWithin);
  const auto until = std::chrono::steady_clock::now() + kAgentEndsWithin;
  for (int number = SIGTERM; number != 0;) {
    const bool is_over = std::chrono::steady_clock::now() >= until;
    const std::vector<NsysAgent> left = agents();
    for (const NsysAgent& agent : left)
      kill(static_cast<pid_t>(agent.pid), is_over ? SIGKILL : SIGTERM);
    number = left.empty() || is_over ? 0 : number;
    if (number != 0) std::this_thread::sleep_for(kLookAtAgents);
  }
}

}  // namespace tacho
