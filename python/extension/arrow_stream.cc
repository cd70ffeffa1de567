#include "arrow_stream.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace tacho {
namespace {

constexpr int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE

// What a schema or an array points to. Children and dictionary are released by their own callback,
// and then by ours if their taker has not moved them away.
template <typename Struct>
struct Held {
  std::vector<Struct> children;
  std::vector<Struct*> child_pointers;
  Struct dictionary{};
  std::string name, metadata;
  std::shared_ptr<const Frame> frame;
  std::vector<const void*> buffers;

  static void Release(Struct* self) {
    auto* const held = static_cast<Held*>(self->private_data);
    for (Struct& child : held->children)
      if (child.release != nullptr) child.release(&child);
    if (held->dictionary.release != nullptr) held->dictionary.release(&held->dictionary);
    self->release = nullptr;
    delete held;
  }
  void GiveChildren(Struct* to, size_t count) {
    children.resize(count);
    for (Struct& child : children) child_pointers.push_back(&child);
    to->n_children = static_cast<int64_t>(count);
    to->children = child_pointers.data();
  }
};

// One key and its value, as the interface encodes metadata.
std::string Metadata(std::string_view key, std::string_view value) {
  std::string out;
  const auto number = [&out](size_t n) {
    const auto small = static_cast<int32_t>(n);
    out.append(reinterpret_cast<const char*>(&small), sizeof(small));
  };
  number(1);
  for (const std::string_view text : {key, value}) {
    number(text.size());
    out += text;
  }
  return out;
}

Held<ArrowSchema>& FillSchema(ArrowSchema* schema, const char* format, std::string name,
                              std::string_view says) {
  auto* const held = new Held<ArrowSchema>;
  held->name = std::move(name);
  if (!says.empty()) held->metadata = Metadata("description", says);
  *schema = {.format = format,
             .name = held->name.c_str(),
             .metadata = says.empty() ? nullptr : held->metadata.c_str(),
             .flags = kNullable,
             .n_children = 0,
             .children = nullptr,
             .dictionary = nullptr,
             .release = &Held<ArrowSchema>::Release,
             .private_data = held};
  return *held;
}

void FillSchema(ArrowSchema* schema, const FrameColumn& column) {
  const char* format = "l";
  if (column.kind() == FrameKind::kReal) format = "g";
  if (column.kind() == FrameKind::kText) format = "U";
  if (column.kind() == FrameKind::kWords) format = "i";
  auto& held = FillSchema(schema, format, column.name(), column.says());
  if (column.kind() != FrameKind::kWords) return;
  FillSchema(&held.dictionary, "U", "", "");
  schema->dictionary = &held.dictionary;
}

Held<ArrowArray>& FillArray(ArrowArray* array, std::shared_ptr<const Frame> frame, size_t rows,
                            int64_t nulls, std::vector<const void*> buffers) {
  auto* const held = new Held<ArrowArray>;
  held->frame = std::move(frame);
  held->buffers = std::move(buffers);
  *array = {.length = static_cast<int64_t>(rows),
            .null_count = nulls,
            .offset = 0,
            .n_buffers = static_cast<int64_t>(held->buffers.size()),
            .n_children = 0,
            .buffers = held->buffers.data(),
            .children = nullptr,
            .dictionary = nullptr,
            .release = &Held<ArrowArray>::Release,
            .private_data = held};
  return *held;
}

void FillArray(ArrowArray* array, const std::shared_ptr<const Frame>& frame,
               const FrameColumn& column) {
  const void* const valid = column.nulls() == 0 ? nullptr : column.valid().data();
  const auto fill = [&](std::vector<const void*> buffers) -> Held<ArrowArray>& {
    return FillArray(array, frame, column.rows(), column.nulls(), std::move(buffers));
  };
  const FrameColumn::Texts& texts = column.texts();
  switch (column.kind()) {
    case FrameKind::kInteger:
      fill({valid, column.integers().data()});
      break;
    case FrameKind::kReal:
      fill({valid, column.reals().data()});
      break;
    case FrameKind::kText:
      fill({valid, texts.ends.data(), texts.text.data()});
      break;
    case FrameKind::kWords: {
      auto& held = fill({valid, column.words().data()});
      FillArray(&held.dictionary, frame, texts.size(), 0,
                {nullptr, texts.ends.data(), texts.text.data()});
      array->dictionary = &held.dictionary;
      break;
    }
  }
}

struct Streamed {
  std::shared_ptr<const Frame> frame;
  bool given = false;
};

Streamed& Of(ArrowArrayStream* stream) { return *static_cast<Streamed*>(stream->private_data); }

int GetSchema(ArrowArrayStream* stream, ArrowSchema* to) {
  try {
    ExportSchema(*Of(stream).frame, to);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int GetNext(ArrowArrayStream* stream, ArrowArray* to) {
  Streamed& streamed = Of(stream);
  if (std::exchange(streamed.given, true)) {
    to->release = nullptr;  // the end
    return 0;
  }
  try {
    const auto& frame = streamed.frame;
    auto& held = FillArray(to, frame, frame->rows, 0, {nullptr});
    held.GiveChildren(to, frame->columns.size());
    for (size_t i = 0; i < frame->columns.size(); ++i)
      FillArray(&held.children[i], frame, frame->columns[i]);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

void Release(ArrowArrayStream* stream) {
  delete &Of(stream);
  stream->release = nullptr;
}

}  // namespace

void ExportSchema(const Frame& frame, ArrowSchema* schema) {
  auto& held = FillSchema(schema, "+s", "", frame.says);
  schema->flags = 0;
  held.GiveChildren(schema, frame.columns.size());
  for (size_t i = 0; i < frame.columns.size(); ++i) FillSchema(&held.children[i], frame.columns[i]);
}

void ExportFrame(std::shared_ptr<const Frame> frame, ArrowArrayStream* stream) {
  *stream = {.get_schema = &GetSchema,
             .get_next = &GetNext,
             .get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; },
             .release = &Release,
             .private_data = new Streamed{std::move(frame)}};
}

}  // namespace tacho
