#pragma once

#include <memory>

#include "io/inflater.h"

namespace tacho {

std::unique_ptr<Inflater> MakeZlibInflater();

}  // namespace tacho
