#include "model/device_rows.h"

#include <algorithm>
#include <array>

#include "base/words.h"

namespace tacho {
namespace {

struct ProducerTrack {
  std::string_view process;  // how the process's name begins
  std::string_view thread;   // how the thread's name begins; "": any name
  TrackRows rows;
};

// The first entry that matches decides.
constexpr ProducerTrack kTracks[] = {
    // torch_npu and CANN's msprof
    {"Ascend Hardware", "", TrackRows::kWork},
    {"CANN", "", TrackRows::kCalls},
    {"Overlap Analysis", "", TrackRows::kDerived},
    {"Communication", "", TrackRows::kDerived},
    {"HCCL", "", TrackRows::kDerived},
    // Intel's unitrace
    {"DEVICE<", "", TrackRows::kWork},
    // JAX: tracks of XLA's modules, operators and steps repeat the kernels of the streams
    {"/device:GPU:", "Stream #", TrackRows::kWork},
    {"/device:GPU:", "", TrackRows::kDerived},
};

// Words (besides numbers) that the name of a device consists of.
constexpr std::array<std::string_view, 10> kDevices{"gpu", "npu", "tpu", "hpu", "xpu",
                                                    "mlu", "gcu", "ipu", "dcu", "device"};
constexpr std::array<std::string_view, 6> kBesides{"stream", "streams", "queue",
                                                   "core",   "cores",   "hardware"};

// Whether a process of this name is a device: "NPU", "GPU 3", "HPU device 0", "/device:TPU:0". Not
// "GPU Process", which is a process of a browser.
bool IsDeviceName(std::string_view name) {
  const std::string lower = AsciiLowered(name);
  bool names_one = false;
  for (size_t at = 0; at < lower.size();) {
    const auto is_letter = [&](size_t i) { return lower[i] >= 'a' && lower[i] <= 'z'; };
    if (!is_letter(at)) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < lower.size() && is_letter(end)) ++end;
    const std::string_view word = std::string_view(lower).substr(at, end - at);
    const bool is_device = std::ranges::find(kDevices, word) != kDevices.end();
    if (!is_device && (!names_one || std::ranges::find(kBesides, word) == kBesides.end())) {
      return false;
    }
    names_one = true;
    at = end;
  }
  return names_one;
}

struct RowWord {
  std::string_view text;  // in lower case
  SliceKind kind;
};

// Words in the types that a producer gives its tasks. If several occur in a type, the first of this
// table decides.
constexpr RowWord kTypes[] = {
    {"wait", SliceKind::kOther},         {"record", SliceKind::kOther},
    {"write_value", SliceKind::kOther},  {"write value", SliceKind::kOther},
    {"place_holder", SliceKind::kOther}, {"write_back", SliceKind::kOther},
    {"invalid", SliceKind::kOther},      {"memcpy", SliceKind::kMemcpy},
    {"memset", SliceKind::kMemset},      {"dma", SliceKind::kMemcpy},
};

// Words at the beginning of a row's name: commands of Level Zero and OpenCL, JAX's copies, and
// tasks that are named after their type. If several fit, the first of this table decides.
constexpr RowWord kNames[] = {
    {"zecommandlistappendmemorycopy", SliceKind::kMemcpy},
    {"zecommandlistappendimagecopy", SliceKind::kMemcpy},
    {"zecommandlistappendmemoryfill", SliceKind::kMemset},
    {"zecommandlistappend", SliceKind::kOther},  // barriers, events, time stamps
    {"clenqueueread", SliceKind::kMemcpy},
    {"clenqueuewrite", SliceKind::kMemcpy},
    {"clenqueuecopy", SliceKind::kMemcpy},
    {"clenqueuefill", SliceKind::kMemset},
    {"memcpy", SliceKind::kMemcpy},
    {"memset", SliceKind::kMemset},
    {"event_wait", SliceKind::kOther},
    {"event_record", SliceKind::kOther},
    {"notify_wait", SliceKind::kOther},
    {"notify_record", SliceKind::kOther},
    {"write_value", SliceKind::kOther},
    {"place_holder", SliceKind::kOther},
};

}  // namespace

TrackRows RowsOfTrack(std::string_view process, std::string_view label, std::string_view thread) {
  const auto* const row = std::ranges::find_if(kTracks, [&](const ProducerTrack& one) {
    return process.starts_with(one.process) && thread.starts_with(one.thread);
  });
  if (row != std::end(kTracks)) return row->rows;
  return IsDeviceName(process) || IsDeviceName(label) ? TrackRows::kUnread : TrackRows::kUnknown;
}

SliceKind KindOfDeviceRow(std::string_view type, std::string_view name) {
  const std::string lower_type = AsciiLowered(type);
  for (const RowWord& word : kTypes) {
    if (lower_type.find(word.text) != std::string::npos) return word.kind;
  }
  if (!type.empty()) return SliceKind::kKernel;
  const std::string lower = AsciiLowered(name);
  for (const RowWord& word : kNames) {
    if (lower.starts_with(word.text)) return word.kind;
  }
  return SliceKind::kKernel;
}

bool IsWaiting(const Event& event, const Vocabulary& words) {
  if (event.kind != SliceKind::kOther) return false;
  if (!event.has_category) return true;
  const Category& category = words[event.category];
  return !category.meaning.known || category.meaning.sign == DeviceSign::kWorkByName;
}

WaitingRow WaitingOf(const Event& event) {
  return {event.category, event.has_category, event.names_device, event.track};
}

WaitingRows::WaitingRows(const Vocabulary& words) : words_(words) {
  for (const Track& track : words.tracks()) {
    const Process& process = words[track.process];
    of_track_.push_back(RowsOfTrack(words[process.name], words[process.label], words[track.name]));
    any_work_ = any_work_ || of_track_.back() == TrackRows::kWork;
  }
}

TrackRows WaitingRows::Of(const WaitingRow& row) const {
  if (row.has_category && words_[row.category].meaning.sign == DeviceSign::kWorkByName) {
    return TrackRows::kWork;
  }
  const TrackRows rows = of_track_[Index(row.track)];
  if (rows == TrackRows::kUnread && any_work_) return TrackRows::kUnknown;
  return rows == TrackRows::kUnknown && row.names_device ? TrackRows::kUnread : rows;
}

std::string_view WaitingRows::NameOf(const WaitingRow& row) const {
  if (row.has_category && words_[row.category].name != StringId::kEmpty) {
    return words_[words_[row.category].name];
  }
  const Process& process = words_[words_[row.track].process];
  return words_[process.name != StringId::kEmpty ? process.name : process.id];
}

StreamId WaitingRows::StreamOf(TrackId track, Vocabulary& words) {
  const Track& row = words[track];
  return words.StreamOfRank(words.InternStream(words[row.process].id, row.tid), track);
}

}  // namespace tacho
