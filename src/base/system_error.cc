#include "base/system_error.h"

#include <cerrno>
#include <string_view>
#include <system_error>

namespace tacho {
namespace {

std::string_view RemedyFor(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "make room there, or name another place";
    case EROFS:
      return "name another place";
    case EACCES:
    case EPERM:
      return "run as its owner, or change its mode with chmod";
    case ELOOP:
      return "a link leads back to itself: name what it should lead to";
    case ENAMETOOLONG:
      return "take a shorter name";
    case EMFILE:
      return "allow more open files with ulimit -n";
    case EIO:
      return "the disk or its connection fails: see the kernel's log";
    default:
      return "";
  }
}

}  // namespace

std::string SystemErrorText(int error) {
  std::string text = std::generic_category().message(error);
  if (const std::string_view remedy = RemedyFor(error); !remedy.empty()) {
    text.append(": ").append(remedy);
  }
  return text;
}

}  // namespace tacho
