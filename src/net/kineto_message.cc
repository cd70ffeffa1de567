#include "net/kineto_message.h"

#include <cstddef>
#include <cstring>

namespace tacho {
namespace {

constexpr size_t kTypeBytes = 32;
constexpr size_t kQuestionBytes = 4 + 4 + 8;
constexpr size_t kContextBytes = 4 + 4 + 8;
constexpr int32_t kMostPids = 4096;

template <typename T>
T Read(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

template <typename T>
void Append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

std::optional<KinetoMessage> ParseKinetoMessage(std::string_view datagram) {
  if (datagram.size() < kKinetoHeaderBytes) return std::nullopt;
  if (Read<uint64_t>(datagram, 0) != datagram.size() - kKinetoHeaderBytes) return std::nullopt;
  std::string_view type = datagram.substr(8, kTypeBytes);
  return KinetoMessage{std::string(type.substr(0, type.find('\0'))),
                       std::string(datagram.substr(kKinetoHeaderBytes))};
}

std::string PackKinetoMessage(const KinetoMessage& message) {
  std::string bytes;
  Append(bytes, static_cast<uint64_t>(message.payload.size()));
  std::string type = message.type;
  type.resize(kTypeBytes, '\0');
  return bytes + type + message.payload;
}

std::string KinetosOwnFileOf(std::string_view pid) {
  return "/tmp/libkineto_activities_" + std::string(pid) + ".json";
}

KinetoAddress KinetoAddressOf(const std::string& folder, std::string_view name) {
  KinetoAddress address;
  address.name.sun_family = AF_UNIX;
  // Kineto counts the trailing NUL as part of an abstract name.
  const std::string path = folder.empty() ? std::string(1, '\0') + std::string(name) + '\0'
                                          : folder + '/' + std::string(name);
  if (path.size() >= sizeof(address.name.sun_path)) return address;
  std::memcpy(address.name.sun_path, path.data(), path.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  return address;
}

std::optional<KinetoQuestion> ParseKinetoQuestion(std::string_view payload) {
  if (payload.size() < kQuestionBytes) return std::nullopt;
  KinetoQuestion question;
  question.state = Read<int32_t>(payload, 0);
  int32_t count = Read<int32_t>(payload, 4);
  question.job = Read<int64_t>(payload, 8);
  if (count < 1 || count > kMostPids || payload.size() < kQuestionBytes + 4 * size_t(count))
    return std::nullopt;
  for (int32_t i = 0; i < count; ++i)
    question.pids.push_back(Read<int32_t>(payload, kQuestionBytes + 4 * size_t(i)));
  return question;
}

std::optional<KinetoContext> ParseKinetoContext(std::string_view payload) {
  if (payload.size() != kContextBytes) return std::nullopt;
  return KinetoContext{Read<int32_t>(payload, 0), Read<int32_t>(payload, 4),
                       Read<int64_t>(payload, 8)};
}

std::string PackKinetoContext(const KinetoContext& context) {
  std::string bytes;
  Append(bytes, context.gpu);
  Append(bytes, static_cast<int32_t>(context.pid));
  Append(bytes, context.job);
  return bytes;
}

std::string PackKinetoQuestion(const KinetoQuestion& question) {
  std::string bytes;
  Append(bytes, question.state);
  Append(bytes, static_cast<int32_t>(question.pids.size()));
  Append(bytes, question.job);
  for (int64_t pid : question.pids) Append(bytes, static_cast<int32_t>(pid));
  return bytes;
}

}  // namespace tacho
