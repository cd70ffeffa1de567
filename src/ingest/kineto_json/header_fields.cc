#include "ingest/kineto_json/header_fields.h"

#include <optional>
#include <string>

#include "base/json_text.h"
#include "base/parse_number.h"
#include "ingest/kineto_json/lenient_json.h"
#include "model/producer_line.h"

namespace tacho::kineto {
namespace {

// In bytes. Longer values (logs of a debug build) are not kept.
constexpr size_t kLongestField = size_t{1} << 20;

std::optional<int64_t> Integer(std::string_view value) {
  return ParseWhole<int64_t>(JsonStringOrText(value));
}

// CUDA's version number as text: "12.9" for 12090; other numbers and texts stay as they are.
std::string CudaVersion(std::string_view value) {
  const std::optional<int64_t> number = Integer(value);
  if (!number || *number < 1000 || *number >= 100'000) return JsonStringOrText(value);
  return std::to_string(*number / 1000) + '.' + std::to_string(*number % 1000 / 10);
}

DeviceProperties ParseDevice(std::string_view text) {
  DeviceProperties device;
  ForEachMember(text, [&](std::string_view key, std::string_view value) {
    if (key == "id") device.id = JsonStringOrText(value);
    if (key == "name") device.name = JsonStringOrText(value);
    if (key == "totalGlobalMem") device.total_memory_bytes = Integer(value).value_or(0);
    if (key == "numSms") device.num_sms = Integer(value).value_or(0);
    if (key == "computeMajor") device.compute_major = Integer(value).value_or(0);
    if (key == "computeMinor") device.compute_minor = Integer(value).value_or(0);
  });
  return device;
}

void ParseDistributed(std::string_view text, TraceHeader& header) {
  ForEachMember(text, [&](std::string_view key, std::string_view value) {
    if (key == "rank") header.rank = Integer(value).value_or(-1);
    if (key == "world_size") header.world_size = Integer(value).value_or(-1);
    if (key == "pg_count") header.process_group_count = Integer(value).value_or(-1);
    if (key == "backend") header.backend = JsonStringOrText(value);
    if (key == "nccl_version") header.nccl_version = JsonStringOrText(value);
  });
}

bool IsOn(std::string_view value) { return value != "0" && value != "false" && value != "null"; }

}  // namespace

void AddHeaderField(std::string_view key, std::string_view value, TraceHeader& header) {
  header.fields.emplace_back(UnescapeJson(key),
                             value.size() <= kLongestField ? value : std::string_view());
  if (key == "deviceProperties" || key == "computeProperties") {
    header.devices.clear();
    ForEachElement(value,
                   [&](std::string_view text) { header.devices.push_back(ParseDevice(text)); });
  } else if (key == "distributedInfo") {
    ParseDistributed(value, header);
  } else if (key == "baseTimeNanoseconds") {
    header.base_time_ns = Integer(value).value_or(-1);
  } else if (key == "vllm_version") {
    header.vllm_version = JsonStringOrText(value);
  } else if (key == "trace_id") {
    header.trace_id = JsonStringOrText(value);
  } else if (key == "cuda_runtime_version" || key == "hip_runtime_version") {
    header.cuda_runtime_version = CudaVersion(value);
  } else if (key == "cuda_driver_version" || key == "hip_driver_version") {
    header.cuda_driver_version = CudaVersion(value);
  } else if (key == "cupti_version") {
    header.cupti_version = Integer(value).value_or(-1);
  } else if (key == "record_shapes") {
    header.record_shapes = IsOn(value);
  } else if (key == "with_stack") {
    header.with_stack = IsOn(value);
  } else if (key == "with_flops") {
    header.with_flops = IsOn(value);
  } else if (key == "profile_memory") {
    header.profile_memory = IsOn(value);
  } else if (key == "with_modules") {
    header.with_modules = IsOn(value);
  } else if (key == "WARNING" || key == "ERROR") {
    ForEachElement(value, [&](std::string_view line) {
      header.producer_log.push_back(JsonStringOrText(line));
    });
  } else if (key == "INFO") {
    // In every trace Kineto writes a line about the end of the device's recording. Keep it only if
    // the recording ended early.
    ForEachElement(value, [&](std::string_view line) {
      std::string text = JsonStringOrText(line);
      if (MeaningOf(text) == ProducerLine::kLostEvents)
        header.producer_log.push_back(std::move(text));
    });
  }
}

}  // namespace tacho::kineto
