#include "io/inflater.h"

#ifdef TACHO_HAVE_ISAL
#include "io/isal_inflater.h"
#endif
#include "io/zlib_inflater.h"

namespace tacho {

const std::vector<InflateLibrary>& InflateLibraries() {
  static const std::vector<InflateLibrary> libraries = {
#ifdef TACHO_HAVE_ISAL
      InflateLibrary::kIsal,
#endif
      InflateLibrary::kZlib,
  };
  return libraries;
}

std::unique_ptr<Inflater> MakeInflater([[maybe_unused]] InflateLibrary library) {
#ifdef TACHO_HAVE_ISAL
  if (library == InflateLibrary::kIsal) return MakeIsalInflater();
#endif
  return MakeZlibInflater();
}

}  // namespace tacho
