#include "session/files/transport.h"

#include <utility>
#include <vector>

#include "base/subprocess.h"

namespace tacho {
namespace {

class ProgramOutput final : public RemoteCommand {
 public:
  explicit ProgramOutput(Result<Subprocess> program) : program_(std::move(program)) {}

  size_t Read(char* to, size_t room) override {
    const size_t got = program_ ? program_->Read(to, room) : 0;
    bytes_ += got;
    if (program_ && *program_->cut_short() != '\0')
      end_ = {StreamDefect::kTruncated, program_->cut_short()};
    return got;
  }
  [[nodiscard]] const StreamEnd& end() const override { return end_; }
  [[nodiscard]] uint64_t stored_bytes() const override { return bytes_; }
  Result<void> Finish() override {
    return program_.and_then([](Subprocess& program) { return program.Finish(); });
  }

 private:
  Result<Subprocess> program_;
  uint64_t bytes_ = 0;
  StreamEnd end_;
};

// Runs a program whose last argument is the command.
class ProgramTransport final : public Transport {
 public:
  ProgramTransport(std::string host, std::string name, std::vector<std::string> words)
      : host_(std::move(host)), name_(std::move(name)), words_(std::move(words)) {}

  [[nodiscard]] std::string Host() const override { return host_; }
  [[nodiscard]] std::unique_ptr<RemoteCommand> Run(const std::string& command,
                                                   std::chrono::milliseconds patience,
                                                   std::stop_token stop) const override {
    std::vector<std::string> words = words_;
    words.push_back(command);
    return std::make_unique<ProgramOutput>(Subprocess::Start({.arguments = std::move(words),
                                                              .name = name_,
                                                              .patience = patience,
                                                              .stop = std::move(stop)}));
  }

 private:
  const std::string host_, name_;
  const std::vector<std::string> words_;
};

}  // namespace

// BatchMode keeps ssh from asking questions. The two time limits end it if the host does not answer
// or vanishes.
std::shared_ptr<const Transport> MakeSshTransport(std::string host) {
  std::vector<std::string> words = {
      "ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=15",
      "--",  host};
  const std::string name = "ssh " + host;
  return std::make_shared<ProgramTransport>(std::move(host), name, std::move(words));
}

std::shared_ptr<const Transport> MakeLocalTransport() {
  return std::make_shared<ProgramTransport>("localhost", "sh",
                                            std::vector<std::string>{"sh", "-c"});
}

}  // namespace tacho
