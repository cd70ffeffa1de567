// Reads the NVTX table of an export: ranges and marks with their domains.
#include <algorithm>
#include <array>
#include <optional>

#include "ingest/nsys_sqlite/export_reader.h"
#include "ingest/nsys_sqlite/nvtx_text.h"

namespace tacho::nsys {
namespace {

enum {
  kNvtxThread = 2,
  kNvtxType,
  kNvtxText,
  kNvtxTextId,
  kNvtxDomain,
  kNvtxEndThread,
  kNvtxRangeId,
  kNvtxCategory,
  kNvtxUint64,
  kNvtxInt64,
  kNvtxUint32,
  kNvtxInt32,
  kNvtxColumns
};
constexpr std::array<std::string_view, kNvtxColumns> kNvtx{
    "start",       "end",        "globalTid",    "eventType", "text",
    "textId",      "domainId",   "endGlobalTid", "rangeId",   "category",
    "uint64Value", "int64Value", "uint32Value",  "int32Value"};
constexpr std::string_view kNvtxTable = "NVTX_EVENTS";

// Values of nsys's ENUM_NSYS_EVENT_TYPE.
enum NvtxType : int64_t {
  kCategoryName = 33,
  kMark = 34,
  kThreadName = 39,
  kPushPop = 59,
  kStartEnd = 60,
  kTextPushPop = 70,  // for imported texts
  kTextStartEnd = 71,
  kDomainCreate = 75,
  kDomainDestroy = 76,
};

}  // namespace

// Creates no processes, because a process that only registers a domain has no trace. Notes no
// damage of the table, because ReadRanges does.
void Recording::ReadDomains() {
  TableScan rows(database_, schema_, kNvtxTable, kNvtx);
  while (rows.Next()) {
    if (rows.Integer(kNvtxType) != kDomainCreate) continue;
    const auto thread = rows.Maybe(kNvtxThread), domain = rows.Maybe(kNvtxDomain);
    if (!thread || !domain) continue;
    DomainText& name = domains_[{ProcessKey(*thread), *domain}];
    name = {.row = rows.row()};
    if (rows.IsNull(kNvtxText)) {
      name.id = rows.Integer(kNvtxTextId);
    } else {
      name.text = rows.Text(kNvtxText);
    }
  }
}

// The name of a domain; kEmpty if it has none. The names of all domains are read at the first call,
// because most recordings need none of them.
StringId Recording::DomainName(RecordedProcess& process, int64_t key, int64_t domain) {
  if (!has_domains_) ReadDomains();
  has_domains_ = true;
  const auto [known, added] = process.domains.try_emplace(domain, StringId::kEmpty);
  if (!added) return known->second;
  if (const auto found = domains_.find({key, domain}); found != domains_.end()) {
    const DomainText& name = found->second;
    known->second = name.id ? process.QuotedName(*name.id, RowPlace{kNvtxTable, name.row})
                            : process.InternQuoted(name.text);
  }
  return known->second;
}

void Recording::ReadRanges() {
  struct Open {
    RecordedProcess* process;
    Event event;
    ArgList args;
    int64_t row;
  };
  std::vector<Open> open;  // ranges without an end; they end with the last event
  TimeNs last{INT64_MIN};
  Each(kNvtxTable, kNvtx, [&](const TableScan& row) {
    const int64_t type = row.Integer(kNvtxType);
    // As in nsys stats, rows of any type count: open ranges end with the last row.
    if (const auto start = row.Maybe(kStart); start && *start < kFarthest) {
      last = std::max(last, TimeNs{*start});
    }
    if (type == kCategoryName || type == kThreadName || type == kDomainCreate ||
        type == kDomainDestroy) {
      return;
    }
    Event event;
    RecordedProcess* const process = BeginHostRow(row, kNvtxThread, "user_annotation", event);
    if (process == nullptr) return;
    const bool is_start_end = type == kStartEnd || type == kTextStartEnd;
    const bool is_range = type == kPushPop || type == kTextPushPop || is_start_end;
    const bool is_open = is_range && row.IsNull(kEnd);
    const bool has_times = ReadTimes(row, event, process->notes(),
                                     is_range && !is_open ? End::kNeeded : End::kMissing);
    if (has_times) last = std::max(last, event.start + event.duration);
    if (is_start_end) {
      event.type = EventType::kRange;
    } else if (!is_range) {
      event.type = EventType::kInstant;
    }
    NameRange(row, *process, event);
    if (is_open && has_times) {
      process->notes().Add(NoteId::kUnfinishedSpan, row.place().Text());
      open.push_back({process, event, args_, row.row()});
    } else {
      process->Emit(kNvtxTable, event, args_);
    }
  });
  for (Open& range : open) {
    range.event.duration = last - range.event.start;
    if (range.event.duration.ns > kLongestDuration) {
      range.process->notes().Add(NoteId::kBadTime, RowPlace{kNvtxTable, range.row}.Text());
      range.event.has_start = false;
    }
    range.process->Emit(kNvtxTable, range.event, range.args);
  }
}

// Sets the name of a range or mark, and its arguments. A range of a torch operator (push and pop in
// the default domain) gets only the operator's name.
void Recording::NameRange(const TableScan& row, RecordedProcess& process, Event& event) {
  const int64_t domain = row.Integer(kNvtxDomain);
  const bool is_registered = row.IsNull(kNvtxText) && !row.IsNull(kNvtxTextId);
  const std::string_view text =
      is_registered ? process.words()[process.Name(row.Integer(kNvtxTextId), row.place())]
                    : row.Text(kNvtxText);
  const bool may_be_torch = event.type == EventType::kSlice && domain == 0;
  const auto torch = may_be_torch ? ParseTorchRange(text) : std::nullopt;
  event.name = process.InternName(torch ? torch->name : text, row.place());
  if (torch) {
    if (IsOperatorName(torch->name)) {
      event.category = process.Category("cpu_op");
      event.kind = SliceKind::kHostOp;
    }
    if (torch->sequence) args_.Integer("Sequence number", *torch->sequence);
    args_.Integer("op_id", torch->op_id);
    if (!torch->sizes.empty()) args_.Text("Input Dims", process.Intern(torch->sizes));
  }
  if (domain != 0) {
    const StringId domain_name = DomainName(process, ProcessKey(row.Integer(kNvtxThread)), domain);
    if (domain_name == StringId::kEmpty) {
      args_.Integer("domain", domain);
    } else {
      args_.Text("domain", domain_name);
    }
  }
  for (const auto& [key, column] : {std::pair{"range id", kNvtxRangeId},
                                    {"category", kNvtxCategory},
                                    {"payload", kNvtxUint64},
                                    {"payload", kNvtxInt64},
                                    {"payload", kNvtxUint32},
                                    {"payload", kNvtxInt32}}) {
    if (const auto value = row.Maybe(column)) args_.Integer(key, *value);
  }
  const auto thread = row.Maybe(kNvtxEndThread);
  if (thread && *thread != row.Integer(kNvtxThread)) args_.Integer("end thread", TidOf(*thread));
}

}  // namespace tacho::nsys
