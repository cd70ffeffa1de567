#include "analysis/names/module_name.h"

#include "base/parse_number.h"

namespace tacho {

std::optional<ModuleName> ModuleNameOf(std::string_view frame) {
  constexpr std::string_view kBefore = "nn.Module: ";
  if (!frame.starts_with(kBefore)) return std::nullopt;
  frame.remove_prefix(kBefore.size());
  const size_t at = frame.rfind('_');
  if (at == std::string_view::npos) return ModuleName{frame};
  const auto number = ParseWhole<uint32_t>(frame.substr(at + 1));
  return number ? ModuleName{frame.substr(0, at), number} : ModuleName{frame};
}

}  // namespace tacho
