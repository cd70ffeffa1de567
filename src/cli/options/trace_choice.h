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

// The ranks of `--rank 0,1 --rank 4`, empty for all. kUsage for an invalid number; the message
// names the help of `command`.
Result<std::vector<int64_t>> RanksAskedFor(const std::vector<std::string>& texts,
                                           std::string_view command);

// The traces to read. For one folder or archive: those of its latest session, unless another
// session is named. If files are named: all of them, whatever their sessions.
Result<TraceChoice> ChoiceOf(const TraceArguments& arguments, std::string_view command);

// The paths and the options that narrow them, as the user would type them again; "" if that is
// impossible.
std::string CommandPaths(const TraceArguments& arguments);

}  // namespace tacho
