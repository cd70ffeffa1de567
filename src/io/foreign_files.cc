#include "io/foreign_files.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/words.h"

namespace tacho {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kLfsStart = "version https://git-lfs.github.com/spec/v";
constexpr size_t kLongestPointer = 1024;  // bytes; from the specification

constexpr size_t kAnywhere = SIZE_MAX;

constexpr std::string_view kTorch =
    "record with torch.profiler instead (vLLM, SGLang: their profile endpoints), which writes "
    ".pt.trace.json.gz";
constexpr std::string_view kNsys =
    "record the program with nsys profile instead, and name the report";
constexpr std::string_view kAscend =
    "name trace_view.json of the same profile, which torch_npu writes with ExportType.Text";
constexpr std::string_view kExport =
    "if nsys export wrote it, export the report with --type sqlite instead";

// A kind of file that begins with `start` and contains `word` in its first `within` bytes.
struct Foreign {
  std::string_view start, word;
  size_t within;
  std::string_view is, instead;
};

// Profiles of other tools. Where the first bytes do not identify the format (an XSpace begins with
// its first plane, a pickle with its protocol, a TFRecord with a length), `word` must follow them.
constexpr Foreign kProfiles[] = {
    {"\x0a", "/host:", 128, "is an XPlane profile of JAX or TensorFlow", kNsys},
    {"\x0a", "/device:", 128, "is an XPlane profile of JAX or TensorFlow", kNsys},
    {"\x0a", "Task Environment", 128, "is an XPlane profile of JAX or TensorFlow", kNsys},
    {"\x80", "device_traces", 65536,
     "is a snapshot of PyTorch's CUDA memory (pytorch.org/memory_viz shows it)", kTorch},
    {"\x80", "segments", 256,
     "is a snapshot of PyTorch's CUDA memory (pytorch.org/memory_viz shows it)", kTorch},
    {"", "brain.Event:", 64, "is a log for TensorBoard (events.out.tfevents)", kTorch},
    {"\x0a\x04\x08\x01\x10\x02", "", 0, "is a profile for pprof", kTorch},
    {"PERFILE2", "", 0, "is a recording of Linux perf (perf.data)", kTorch},
    {"{\xa9\x03", "", 0, "is a profile of Python's cProfile", kTorch},
};

// Tables of text. `word` is in their first line, which names the columns.
constexpr Foreign kTables[] = {
    {"", "Start_Timestamp", kAnywhere, "is a table of rocprofv3 (CSV)", kTorch},
    {"", "TotalDurationNs", kAnywhere, "is a table of rocprof's totals (CSV)", kTorch},
    {"", "\"Agent_Id\"", kAnywhere, "is a table of rocprofv3 (CSV)", kTorch},
    {"", "\"Agent_Type\"", kAnywhere, "is a table of rocprofv3 (CSV)", kTorch},
    {"", "KernelName", kAnywhere, "is a table of rocprof (CSV)", kTorch},
    {"", "Total Time (ns)", kAnywhere, "is a table of nsys stats",
     "name the report or its export (.nsys-rep, .sqlite) that it was made from"},
    {"", "Accelerator Core", kAnywhere, "is a table of an Ascend profile (CSV)",
     "name trace_view.json, which lies beside it"},
    {"", "OP Type,Core Type", kAnywhere, "is a table of an Ascend profile (CSV)",
     "name trace_view.json, which lies beside it"},
};

// Files that may lie beside traces in any number.
constexpr Foreign kOthers[] = {
    {"\x80\x02", "", 0, "is a Python pickle", kTorch},
    {"\x80\x03", "", 0, "is a Python pickle", kTorch},
    {"\x80\x04\x95", "", 0, "is a Python pickle", kTorch},
    {"\x80\x05\x95", "", 0, "is a Python pickle", kTorch},
    {"PAR1", "", 0, "is a Parquet table", kExport},
    {"ARROW1", "", 0, "is an Arrow table", kExport},
    {"\x89HDF\r\n\x1a\n", "", 0, "is an HDF5 file", kExport},
    {"\x93NUMPY", "", 0, "is a NumPy array", kTorch},
};

constexpr Foreign kDatabases[] = {
    {"", "rocpd_", kAnywhere, "is a database of rocprofv3 (rocpd)", kTorch},
    {"", "CANN_API", kAnywhere, "is a database of an Ascend profile (torch_npu, msprof)", kAscend},
    {"", "COMMUNICATION_OP", kAnywhere, "is a database of an Ascend profile (torch_npu, msprof)",
     kAscend},
    {"", "COMPUTE_TASK_INFO", kAnywhere, "is a database of an Ascend profile (torch_npu, msprof)",
     kAscend},
    {"", "StringTable", kAnywhere, "is a database of nvprof", kNsys},
};

bool Has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// Describes the first kind that fits; "" if none does.
std::string FirstOf(std::span<const Foreign> kinds, std::string_view start) {
  const auto fits = [&](const Foreign& kind) {
    return start.starts_with(kind.start) && Has(start.substr(0, kind.within), kind.word);
  };
  const auto found = std::ranges::find_if(kinds, fits);
  if (found == kinds.end()) return "";
  return std::string(found->is).append(", which is not read: ").append(found->instead);
}

}  // namespace

bool IsLfsPointer(std::string_view start) {
  return start.size() <= kLongestPointer && start.starts_with(kLfsStart) && Has(start, "\noid ");
}

std::string LfsRemedy(std::string_view pointer) {
  std::string bytes;
  while (!pointer.empty()) {
    std::string_view line = TakeLine(pointer);
    if (TakeWord(line) == "size") bytes = std::string(TakeWord(line));
  }
  const bool is_number = !bytes.empty() && std::ranges::all_of(bytes, IsDigit);
  return "is a Git LFS pointer: the trace itself" +
         (is_number ? " (" + WithThousands(bytes) + " bytes)" : std::string()) +
         " is not here: git lfs pull";
}

std::string ForeignProfile(std::string_view start) { return FirstOf(kProfiles, start); }

std::string ForeignFile(std::string_view start) {
  const std::string table = FirstOf(kTables, start.substr(0, start.find('\n')));
  return table.empty() ? FirstOf(kOthers, start) : table;
}

std::string ForeignDatabase(std::string_view tables) { return FirstOf(kDatabases, tables); }

}  // namespace tacho
