#include "ray/static_program.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "base/sha256.h"
#include "io/read_whole.h"

namespace tacho {
namespace {

// Ray takes packages of up to 100 MiB by HTTP.
constexpr size_t kMostProgram = size_t{200} << 20;
constexpr size_t kHashBytes = 16;

StaticProgram WithHash(std::string bytes) {
  StaticProgram program{std::move(bytes), {}};
  const auto digest = Sha256(program.bytes);
  for (size_t i = 0; i < kHashBytes; ++i) program.hash += fmt::format("{:02x}", digest.at(i));
  return program;
}

}  // namespace

bool IsStaticProgram(std::string_view bytes) {
  Elf64_Ehdr head;
  if (bytes.size() < sizeof(head)) return false;
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      (head.e_type != ET_EXEC && head.e_type != ET_DYN) || head.e_phentsize != sizeof(Elf64_Phdr) ||
      head.e_phoff > bytes.size() ||
      head.e_phnum > (bytes.size() - head.e_phoff) / sizeof(Elf64_Phdr))
    return false;
  bool has_code = false;
  for (size_t i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part;
    std::memcpy(&part, bytes.data() + head.e_phoff + i * sizeof(part), sizeof(part));
    if (part.p_type == PT_INTERP) return false;
    has_code = has_code || part.p_type == PT_LOAD;
  }
  return has_code;
}

Result<StaticProgram> FindStaticProgram(const std::optional<std::string>& given) {
  constexpr const char* kBuild =
      "tools/static_libraries && cmake --preset static && cmake --build --preset static make it, "
      "as build/static/tacho";
  if (given) {
    TACHO_ASSIGN_OR_RETURN(std::string bytes,
                           WithContext(ReadWholeFile(*given, kMostProgram), "--ray-program"));
    if (IsStaticProgram(bytes)) return WithHash(std::move(bytes));
    return FailAt(ErrorKind::kUsage, "--ray-program " + *given,
                  fmt::format("not a static program: {}", kBuild));
  }
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  for (const std::string& path : {self.string(), (self.parent_path() / "tacho-static").string()}) {
    auto bytes = ReadWholeFile(path, kMostProgram);
    if (bytes && IsStaticProgram(*bytes)) return WithHash(*std::move(bytes));
  }
  return Fail(ErrorKind::kUsage,
              fmt::format("--ray needs the static tacho, which runs on any node, and this one is "
                          "not static: {}; give it by --ray-program FILE, or put it beside this "
                          "program as tacho-static",
                          kBuild));
}

}  // namespace tacho
