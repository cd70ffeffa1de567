#include "load/plan/dataset.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/words.h"
#include "load/plan/dataset_csv.h"

namespace tacho {
namespace {

namespace ondemand = simdjson::ondemand;

class JsonRows {
 public:
  JsonRows(Dataset& dataset, const DatasetOptions& options)
      : dataset_(dataset), options_(options) {}

  // Takes one line. Returns why it is broken; "" if it is not.
  std::string TakeLine(std::string_view line, uint64_t number) {
    line_ = number;
    padded_.assign(line);
    padded_.append(simdjson::SIMDJSON_PADDING, '\0');
    ondemand::document document;
    ondemand::object object;
    if (const auto error =
            parser_.iterate(padded_.data(), line.size(), padded_.size()).get(document)) {
      return NoObject(error);
    }
    if (const auto error = document.get_object().get(object)) return NoObject(error);
    std::string why = TakeObject(object);
    if (why.empty() && !document.current_location().error())
      return Undo("something follows the object");
    return why;
  }

  // Takes the entries of a JSON array, up to the first that cannot be separated from the rest.
  void TakeArray(std::string_view bytes) {
    const simdjson::padded_string whole(bytes);
    ondemand::document document;
    ondemand::array array;
    if (parser_.iterate(whole).get(document) != simdjson::SUCCESS ||
        document.get_array().get(array) != simdjson::SUCCESS) {
      return Broken(1, "no JSON array");
    }
    uint64_t entry = 0;
    for (auto item : array) {
      line_ = ++entry;
      ondemand::object object;
      if (const auto error = item.get_object().get(object)) {
        Broken(entry, NoObject(error));
        // If an entry's structure is broken, the entries after it cannot be separated.
        if (error != simdjson::INCORRECT_TYPE) return;
        continue;
      }
      if (const std::string why = TakeObject(object); !why.empty()) Broken(entry, why);
    }
  }

  // Sets the rows' times. Call it after the last row: only all stamps together show their unit.
  void SetTimes() {
    TraceSigns signs{.given_unit = options_.seconds_a_unit,
                     .given_block = options_.block_tokens,
                     .is_bailian = is_bailian_};
    for (const std::optional<double>& stamp : stamps_)
      if (stamp) signs.stamps.push_back(*stamp);
    for (const DatasetRow& row : dataset_.rows)
      if (!row.hash_ids.empty()) signs.hashed.emplace_back(row.prompt_tokens, row.hash_ids.size());
    dataset_.units = UnitsOf(signs);
    std::vector<DatasetRow> rows;
    for (size_t i = 0; i < stamps_.size(); ++i) {
      const double seconds = stamps_[i].value_or(0) * dataset_.units.seconds_a_unit;
      if (seconds > kLatestSeconds) {
        Broken(lines_[i], fmt::format("{}: {:g} s is not a time (another unit?)",
                                      options_.timestamp_label, seconds));
        continue;
      }
      if (stamps_[i]) dataset_.rows[i].at_ns = std::llround(seconds * 1e9);
      rows.push_back(std::move(dataset_.rows[i]));
    }
    dataset_.rows = std::move(rows);
  }

  void Broken(uint64_t line, std::string why) {
    ++dataset_.broken;
    if (dataset_.first_broken.size() < Dataset::kMostBroken) {
      dataset_.first_broken.push_back({line, std::move(why)});
    }
  }

 private:
  // Says why the entry holds no request.
  std::string NoObject(simdjson::error_code error) const {
    if (error != simdjson::INCORRECT_TYPE)
      return fmt::format("no JSON: {}", simdjson::error_message(error));
    return fmt::format("expected is a JSON object with conversations, prompt, messages or {}",
                       options_.input_label);
  }

  void Ignore(std::string_view key) {
    std::vector<std::string>& ignored = dataset_.ignored_keys;
    const auto same = [&](const std::string& other) { return other == key; };
    if (ignored.size() < Dataset::kMostIgnored &&
        std::none_of(ignored.begin(), ignored.end(), same))
      ignored.emplace_back(key.substr(0, Dataset::kLongestIgnored));
  }

  std::string Undo(std::string why) {
    if (taken_) {
      dataset_.rows.pop_back();
      stamps_.pop_back();
      lines_.pop_back();
    }
    return why;
  }

  std::string TakeObject(ondemand::object object) {
    taken_ = false;
    DatasetRow row;
    std::optional<double> stamp;
    bool is_conversation = false, is_prompt = false, is_messages = false, is_trace = false;
    bool tells_output = false;
    for (auto field : object) {
      std::string_view key;
      ondemand::value value;
      if (const auto error = field.unescaped_key().get(key)) return NoObject(error);
      if (const auto error = field.value().get(value)) return NoObject(error);
      if (key == "conversations") {
        is_conversation = true;
        ReadTurns(value, row);
      } else if (key == "prompt") {
        is_prompt = true;
        if (!ReadText(value, row.text)) return "the prompt is not text";
      } else if (key == "messages") {
        is_messages = true;
        std::string_view raw;
        if (simdjson::to_json_string(value).get(raw) == simdjson::SUCCESS) row.text = raw;
      } else if (key == options_.input_label) {
        is_trace = true;
        if (!ReadCount(value, row.prompt_tokens)) return NoCount(key);
      } else if (key == options_.output_label || key == "output_tokens") {
        tells_output = true;
        if (!ReadCount(value, row.output_tokens)) return NoCount(key);
      } else if (key == options_.timestamp_label) {
        double time = 0;
        if (value.get_double().get(time) != simdjson::SUCCESS || !(time >= 0))
          return fmt::format("{} is not a time", options_.timestamp_label);
        stamp = time;
      } else if (key == options_.hash_label) {
        ReadIds(value, row.hash_ids);
      } else if (key == "chat_id" || key == "parent_chat_id") {
        is_bailian_ = true;
      } else if (key != "id") {
        Ignore(key);
      }
    }
    const DatasetKind kind = is_conversation ? DatasetKind::kShareGpt
                             : is_messages   ? DatasetKind::kMessages
                             : is_prompt     ? DatasetKind::kCustom
                             : is_trace      ? DatasetKind::kTrace
                                             : DatasetKind::kUnknown;
    if (kind == DatasetKind::kUnknown) {
      return NoObject(simdjson::INCORRECT_TYPE);
    }
    if (dataset_.kind == DatasetKind::kUnknown) dataset_.kind = kind;
    if (kind != dataset_.kind) {
      return fmt::format("a line of another kind ({}, not {})", DatasetName(kind),
                         DatasetName(dataset_.kind));
    }
    const bool fits = kind == DatasetKind::kTrace
                          ? row.prompt_tokens > 0 && row.output_tokens > 0
                          : !row.text.empty() && (row.output_tokens > 0 || !tells_output);
    if (!fits) {
      ++dataset_.unfit;
      return "";
    }
    taken_ = true;
    dataset_.rows.push_back(std::move(row));
    stamps_.push_back(stamp);
    lines_.push_back(line_);
    return "";
  }

  static bool ReadText(ondemand::value value, std::string& text) {
    std::string_view view;
    if (value.get_string().get(view) != simdjson::SUCCESS) return false;
    text = view;
    return true;
  }

  static bool ReadCount(ondemand::value value, int64_t& count) {
    double number = 0;
    if (value.get_double().get(number) != simdjson::SUCCESS) return false;
    if (!(number >= 0 && number <= static_cast<double>(kMostTokens) &&
          number == std::floor(number)))
      return false;
    count = static_cast<int64_t>(number);
    return true;
  }

  static std::string NoCount(std::string_view key) {
    return fmt::format("{} is not a number of tokens", key);
  }

  // Reads the first turn and its answer.
  static void ReadTurns(ondemand::value value, DatasetRow& row) {
    ondemand::array turns;
    if (value.get_array().get(turns) != simdjson::SUCCESS) return;
    size_t turn = 0;
    for (auto item : turns) {
      ondemand::object object;
      if (item.get_object().get(object) != simdjson::SUCCESS) return;
      if (turn < 2) {
        ondemand::value text;
        if (object.find_field_unordered("value").get(text) != simdjson::SUCCESS) return;
        ReadText(text, turn == 0 ? row.text : row.answer);
      }
      ++turn;
    }
    if (turn < 2) row.text.clear();
  }

  static void ReadIds(ondemand::value value, std::vector<int64_t>& ids) {
    ondemand::json_type type{};
    ondemand::array array;
    if (value.type().get(type) != simdjson::SUCCESS || type != ondemand::json_type::array) return;
    if (value.get_array().get(array) != simdjson::SUCCESS) return;
    for (auto item : array) {
      int64_t id = 0;
      if (item.get_int64().get(id) != simdjson::SUCCESS) return;
      ids.push_back(id);
    }
  }

  Dataset& dataset_;
  const DatasetOptions& options_;
  ondemand::parser parser_;
  std::string padded_;
  bool taken_ = false, is_bailian_ = false;
  uint64_t line_ = 0;
  // Both have one entry per row.
  std::vector<std::optional<double>> stamps_;
  std::vector<uint64_t> lines_;
};

void ReadLines(std::string_view bytes, JsonRows& rows) {
  uint64_t number = 0;
  while (!bytes.empty()) {
    const std::string_view line = Trim(TakeLine(bytes));
    ++number;
    if (line.empty()) continue;
    if (const std::string why = rows.TakeLine(line, number); !why.empty()) rows.Broken(number, why);
  }
}

// Makes the rows' times relative to the first one, and sorts the rows by time.
void SortByTime(Dataset& dataset) {
  const auto has_time = [](const DatasetRow& row) { return row.at_ns.has_value(); };
  if (dataset.rows.empty() || !std::all_of(dataset.rows.begin(), dataset.rows.end(), has_time)) {
    return;
  }
  std::stable_sort(dataset.rows.begin(), dataset.rows.end(),
                   [](const DatasetRow& a, const DatasetRow& b) { return *a.at_ns < *b.at_ns; });
  const int64_t first = *dataset.rows.front().at_ns;
  for (DatasetRow& row : dataset.rows) row.at_ns = *row.at_ns - first;
}

}  // namespace

std::string_view DatasetName(DatasetKind kind) {
  switch (kind) {
    case DatasetKind::kUnknown:
      return "unknown";
    case DatasetKind::kShareGpt:
      return "sharegpt";
    case DatasetKind::kCustom:
      return "custom";
    case DatasetKind::kMessages:
      return "messages";
    case DatasetKind::kTrace:
      return "timed_trace";
    case DatasetKind::kAzure:
      return "azure";
    case DatasetKind::kBurstGpt:
      return "burstgpt";
  }
  return "unknown";
}

Result<Dataset> ReadDataset(std::string_view bytes, const DatasetOptions& options) {
  Dataset dataset;
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  JsonRows rows(dataset, options);
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  const char begin = first == std::string_view::npos ? '\0' : bytes[first];
  if (begin == '[') {
    rows.TakeArray(bytes);
    rows.SetTimes();
  } else if (begin == '{') {
    ReadLines(bytes, rows);
    rows.SetTimes();
  } else if (begin != '\0') {
    TACHO_RETURN_IF_ERROR(ReadCsv(bytes, options, dataset));
  }
  if (options.stop_at_broken && dataset.broken > 0) {
    return Fail(ErrorKind::kUnreadable,
                fmt::format("line {}: {} (broken lines in all: {})", dataset.first_broken[0].line,
                            dataset.first_broken[0].why, dataset.broken));
  }
  if (dataset.rows.empty()) {
    std::string why = "no request in it";
    if (dataset.broken > 0) {
      why += fmt::format(": {} broken lines, the first is {} ({})", dataset.broken,
                         dataset.first_broken[0].line, dataset.first_broken[0].why);
    } else if (dataset.unfit > 0) {
      why += fmt::format(": {} lines without a prompt or lengths", dataset.unfit);
    }
    return Fail(ErrorKind::kUnreadable, why);
  }
  SortByTime(dataset);
  return dataset;
}

}  // namespace tacho
