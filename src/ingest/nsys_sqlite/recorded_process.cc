#include "ingest/nsys_sqlite/recorded_process.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "base/utf8.h"

namespace tacho::nsys {

RecordedProcess::RecordedProcess(EventSink& sink, NameTable& names, int64_t pid)
    : sink_(sink),
      words_(sink.vocabulary()),
      names_(names),
      wants_args_(sink.wants_args()),
      process_(words_.InternProcess(Intern(std::to_string(pid)))) {
  words_[process_].number = pid;
}

StringId RecordedProcess::Name(int64_t id, const RowPlace& row) {
  const auto [known, added] = strings_.try_emplace(id, StringId::kEmpty);
  if (!added) return known->second;
  if (const auto text = names_.Find(id)) {
    known->second = InternName(*text, row);
  } else {
    known->second = Intern("(string " + std::to_string(id) + ")");
    notes().Add(NoteId::kUnknownString, row.Text());
  }
  return known->second;
}

StringId RecordedProcess::InternName(std::string_view text, const RowPlace& row) {
  const size_t before = words_.strings.size();
  const StringId name = Intern(text);
  if (words_.strings.size() != before && !IsUtf8(text)) {
    notes().Add(NoteId::kInvalidUtf8, row.Text());
  }
  return name;
}

StringId RecordedProcess::QuotedName(int64_t id, const RowPlace& row) {
  const auto [known, added] = quoted_.try_emplace(id, StringId::kEmpty);
  if (added) known->second = InternQuoted(words_[Name(id, row)]);
  return known->second;
}

StringId RecordedProcess::InternQuoted(std::string_view text) { return Intern(QuoteJson(text)); }

StringId RecordedProcess::InternTriple(int64_t x, int64_t y, int64_t z) {
  const std::array sizes{x, y, z};
  const auto hash =
      static_cast<uint64_t>(x) * 31 + static_cast<uint64_t>(y) * 7 + static_cast<uint64_t>(z);
  Triple& last = triples_[hash % triples_.size()];
  if (last.text == StringId::kEmpty || last.sizes != sizes) {
    char text[80];
    const auto end = fmt::format_to_n(text, sizeof text, "[{}, {}, {}]", x, y, z).out;
    last = {sizes, Intern({text, static_cast<size_t>(end - text)})};
  }
  return last.text;
}

CategoryId RecordedProcess::Category(std::string_view literal) {
  const auto found =
      std::ranges::find(categories_, literal.data(), &decltype(categories_)::value_type::first);
  if (found != categories_.end()) return found->second;
  categories_.emplace_back(literal.data(), words_.InternCategory(literal));
  return categories_.back().second;
}

TrackId RecordedProcess::Thread(int64_t tid) {
  const auto [known, added] = threads_.try_emplace(tid);
  if (added) known->second = words_.InternTrack(process_, Intern(std::to_string(tid)));
  return known->second;
}

std::pair<TrackId, StreamId> RecordedProcess::Stream(int64_t device, int64_t stream) {
  const auto [known, added] = streams_.try_emplace({device, stream});
  if (added) {
    const std::string name = std::to_string(stream);
    known->second = {OnDevice(device, name),
                     words_.InternStream(Intern(std::to_string(device)), Intern(name))};
  }
  return known->second;
}

// The track's process is not named with the device's number alone, because in a container a real
// process may have that number.
TrackId RecordedProcess::OnDevice(int64_t device, std::string_view row) {
  const ProcessId owner = words_.InternProcess(Intern("GPU " + std::to_string(device)));
  words_[owner].device = Intern(std::to_string(device));
  return words_.InternTrack(owner, Intern(row));
}

TrackId RecordedProcess::Session() {
  return words_.InternTrack(words_.InternProcess(Intern("Spans")), Intern("Nsight Systems"));
}

void RecordedProcess::Emit(std::string_view table, Event& event, const ArgList& args) {
  if (wants_args_ && !args.keys().empty()) {
    event.args = ShapeOf(args);
    event.arg_values = args.values();
  }
  if (counted_as_ != table) {
    counted_as_ = table;
    count_ = &sink_.basics().counts.by_label[std::string(table)];
  }
  ++*count_;
  sink_.OnEvent(event);
}

ArgsShapeId RecordedProcess::ShapeOf(const ArgList& args) {
  const auto is_it = [&](const Shape& shape) { return shape.keys == args.keys(); };
  if (last_shape_ < shapes_.size() && is_it(shapes_[last_shape_])) return shapes_[last_shape_].id;
  const auto found = std::ranges::find_if(shapes_, is_it);
  last_shape_ = static_cast<size_t>(found - shapes_.begin());
  if (found != shapes_.end()) return found->id;
  ArgsShape shape{.text = "{"};
  for (const ArgList::Key& key : args.keys()) {
    if (shape.text.size() > 1) shape.text += ", ";
    shape.text.append("\"").append(key.name).append("\": ");
    shape.AddSlot(Intern(key.name), key.home);
  }
  shape.text += '}';
  shapes_.push_back({args.keys(), words_.AddArgsShape(std::move(shape))});
  return shapes_.back().id;
}

}  // namespace tacho::nsys
