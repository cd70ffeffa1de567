#pragma once

#include "base/result.h"
#include "cli/load/load_flags.h"
#include "load/result/load_report.h"

namespace tacho {

// Checks before the load, which may take hours, that the result files can be written. kUsage: two
// files with one name; kOutput: a file cannot be written.
Result<void> CheckResultFiles(const LoadFlags& flags);

// The option --records of all commands that send a load; its value is a file name. If the name
// contains "{scenario}", each scenario gets a file of its own.
OptionRow RecordsRow(std::string& path);
// Writes the files of --records. kOutput.
Result<void> WriteRecords(const std::string& path, const LoadRecords& records);

// Writes the files that --records, --plan, --vllm-json and --save-result ask for. kOutput.
Result<void> WriteResultFiles(const LoadFlags& flags, const FinishedLoad& load);

// The name that vLLM would give the file:
// {label|backend}-{rate}qps[-concurrency{c}]-{model}-{date}.json.
std::string ResultFileName(const BenchIdentity& identity);

}  // namespace tacho
