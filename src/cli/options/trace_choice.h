#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"
#include "run/read_run.h"

namespace tacho {

// The arguments that name traces.
struct TraceArguments {
  std::vector<std::string> paths;
  std::vector<std::string> rank;  // numbers, see RanksAskedFor
  std::optional<std::string> session;
  bool keep_secrets = false;

  // The option row of --keep-secrets; it writes into this object.
  OptionRow KeepSecrets();
};

// The ranks of `--rank 0,1 --rank 4`; empty: all ranks. kUsage: an invalid number; the message
// points to the help of `command`.
Result<std::vector<int64_t>> RanksAskedFor(const std::vector<std::string>& texts,
                                           std::string_view command);

// The traces to read. A folder or archive gives the traces of its latest session, unless another
// session is named. Files that are named one by one are all read, whatever their sessions.
Result<TraceChoice> ChoiceOf(const TraceArguments& arguments, std::string_view command);

// The paths and the options that narrow them, as the user would type them again; "" if that is
// impossible.
std::string CommandPaths(const TraceArguments& arguments);

}  // namespace tacho
