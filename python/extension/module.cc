// The extension module tacho._tacho: what python/tacho/ needs of the libraries.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <thread>

#include "arrow_stream.h"
#include "base/error_kind_name.h"
#include "frames_of_run.h"
#include "held_run.h"
#include "reading_progress.h"
#include "text/visible_text.h"

namespace nb = nanobind;

namespace tacho {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

// An Error on its way to Python.
struct Raised {
  Error error;
};

// Calls `work` with the token of `stop` on a thread of its own, without the GIL. Meanwhile looks
// for signals, and calls `look`, with the GIL. An exception of a signal's handler, as of Ctrl-C, or
// of `look` requests the stop, and is thrown once `work` has ended.
template <typename Work>
auto WhileSignalsCount(Work work, std::stop_source stop = {},
                       const std::function<void()>& look = {}) {
  std::optional<decltype(work(std::stop_token()))> result;
  std::exception_ptr failure, interruption;
  std::mutex mutex;
  std::condition_variable ended;
  bool is_over = false;
  {
    const std::jthread worker([&] {
      try {
        result.emplace(work(stop.get_token()));
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      is_over = true;
      ended.notify_one();
    });
    while (true) {
      {
        const nb::gil_scoped_release released;
        std::unique_lock lock(mutex);
        if (ended.wait_for(lock, kBetweenLooks, [&] { return is_over; })) break;
      }
      if (interruption) continue;
      try {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (look) look();
      } catch (...) {
        interruption = std::current_exception();
        stop.request_stop();
      }
    }
  }
  if (interruption) std::rethrow_exception(interruption);
  if (failure) std::rethrow_exception(failure);
  if (!*result) throw Raised{(*result).error()};
  return *std::move(*result);
}

// `progress`: nothing, or what is called with (traces, bytes that are read, bytes of all, seconds,
// a line of text) meanwhile, and once at the end. `unicode`: whether the line may have other than
// ASCII.
std::shared_ptr<HeldRun> ReadHeld(const std::optional<nb::callable>& progress, bool unicode,
                                  const std::vector<nb::bytes>& paths, const std::string& session,
                                  std::vector<int64_t> ranks, size_t threads, bool keep_secrets,
                                  std::optional<std::string> rules,
                                  std::optional<std::string> model_config,
                                  std::optional<std::string> gpu,
                                  std::optional<int64_t> tensor_parallel,
                                  std::optional<int64_t> context_length) {
  std::vector<std::string> names;
  for (const nb::bytes& path : paths) names.emplace_back(path.c_str(), path.size());
  RunRequest request{.choice = {.paths = std::move(names),
                                .threads = threads,
                                .session = session,
                                .ranks = std::move(ranks),
                                .keep_secrets = keep_secrets},
                     .rules = std::move(rules),
                     .model_config = std::move(model_config),
                     .gpu = std::move(gpu),
                     .tensor_parallel = tensor_parallel,
                     .context_length = context_length};
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::stop_source stop;
  ReadingProgress reading(stop.get_token());
  const auto call = [&](const std::string& line, const ReadingProgress::Look& look) {
    (*progress)(look.traces, look.done_bytes, look.total_bytes, seconds(), line);
  };
  std::function<void()> look;
  if (progress) {
    look = [&] {
      const auto at = reading.LookAt(seconds(), unicode);
      call(at.line, at);
    };
  }
  auto held = WhileSignalsCount(
      [&](const std::stop_token& /*of_reading*/) {
        return HeldRun::Read(request, reading).map_error([](Error error) {
          error.message = VisibleText(error.message);  // names of files may be any bytes
          return error;
        });
      },
      stop, look);
  if (look) call(reading.LastLine(seconds()), reading.LookAt(seconds(), unicode));
  return held;
}

// A capsule that owns an Arrow struct: its destructor releases what no consumer has taken.
template <typename Struct>
nb::object Capsule(Struct* made, const char* name) {
  PyObject* const capsule = PyCapsule_New(made, name, [](PyObject* self) {
    auto* const held = static_cast<Struct*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
    if (held->release != nullptr) held->release(held);
    delete held;
  });
  if (capsule == nullptr) throw nb::python_error();
  return nb::steal(capsule);
}

using SharedFrame = std::shared_ptr<const Frame>;
// What Python holds: nanobind shares no pointer to a constant.
struct Table {
  SharedFrame frame;
};

nb::object StreamOf(const Table& table, const nb::object& /*requested_schema*/) {
  auto* const stream = new ArrowArrayStream;
  ExportFrame(table.frame, stream);
  return Capsule(stream, "arrow_array_stream");
}

nb::object SchemaOf(const Table& table) {
  auto* const schema = new ArrowSchema;
  ExportSchema(*table.frame, schema);
  return Capsule(schema, "arrow_schema");
}

nb::object Cell(const FrameColumn& column, size_t row) {
  if (column.IsNull(row)) return nb::none();
  switch (column.kind()) {
    case FrameKind::kInteger:
      return nb::int_(column.integers()[row]);
    case FrameKind::kReal:
      return nb::float_(column.reals()[row]);
    case FrameKind::kText:
    case FrameKind::kWords:
      break;
  }
  const size_t text =
      column.kind() == FrameKind::kText ? row : static_cast<size_t>(column.words()[row]);
  const std::string_view of = column.texts()[text];
  return nb::str(of.data(), of.size());
}

nb::list Rows(const Table& table, size_t from, size_t until) {
  nb::list rows;
  for (size_t row = from; row < std::min(until, table.frame->rows); ++row) {
    nb::list cells;
    for (const FrameColumn& column : table.frame->columns) cells.append(Cell(column, row));
    rows.append(nb::tuple(cells));
  }
  return rows;
}

const char* TypeName(FrameKind kind) {
  switch (kind) {
    case FrameKind::kInteger:
      return "int64";
    case FrameKind::kReal:
      return "float64";
    case FrameKind::kText:
      return "string";
    case FrameKind::kWords:
      break;
  }
  return "dictionary";
}

nb::list Columns(const Table& table) {
  nb::list columns;
  for (const FrameColumn& column : table.frame->columns)
    columns.append(nb::make_tuple(column.name(), TypeName(column.kind()), column.says()));
  return columns;
}

void AddCell(FrameColumn& column, nb::handle cell) {
  if (cell.is_none()) return column.AddNull();
  if (nb::isinstance<nb::int_>(cell)) return column.Add(nb::cast<int64_t>(cell));
  if (nb::isinstance<nb::float_>(cell)) return column.Add(nb::cast<double>(cell));
  column.Add(std::string_view(nb::cast<std::string>(cell)));
}

// A table of rows that Python has, with columns as (name, type, says).
Table Made(std::string name,
           const std::vector<std::tuple<std::string, std::string, std::string>>& columns,
           const nb::list& rows) {
  Frame frame{std::move(name), "", rows.size(), {}};
  for (const auto& [column, type, says] : columns) {
    const FrameKind kind = type == "integer"  ? FrameKind::kInteger
                           : type == "number" ? FrameKind::kReal
                                              : FrameKind::kText;
    frame.columns.emplace_back(column, kind, says);
  }
  for (const nb::handle row : rows)
    for (size_t i = 0; i < columns.size(); ++i) AddCell(frame.columns[i], row[i]);
  return {std::make_shared<const Frame>(std::move(frame))};
}

}  // namespace
}  // namespace tacho

NB_MODULE(_tacho, module) {
  using namespace tacho;
  nb::set_leak_warnings(false);  // a run that a traceback or a notebook holds at the end is no leak
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Raised& raised) {
      const nb::object error =
          nb::module_::import_("tacho._errors")
              .attr("of_kind")(std::string(ErrorKindName(raised.error.kind)), raised.error.message);
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    }
  });
  module.attr("version") = TACHO_VERSION;
  nb::class_<Table>(module, "Table")
      .def("__arrow_c_stream__", &StreamOf, nb::arg("requested_schema") = nb::none())
      .def("__arrow_c_schema__", &SchemaOf)
      .def_prop_ro("name", [](const Table& self) { return self.frame->name; })
      .def_prop_ro("says", [](const Table& self) { return self.frame->says; })
      .def_prop_ro("columns", &Columns)
      .def_prop_ro("nbytes", [](const Table& self) { return self.frame->MemoryBytes(); })
      .def("rows", &Rows)
      .def("__len__", [](const Table& self) { return self.frame->rows; });
  nb::class_<HeldRun>(module, "Run")
      .def("analysis_json",
           [](const HeldRun& self) {
             const nb::gil_scoped_release released;
             return self.AnalysisJson();
           })
      .def_prop_ro("failures",
                   [](const HeldRun& self) {
                     std::vector<std::string> failures;
                     for (const std::string& failure : self.failures())
                       failures.push_back(VisibleText(failure));
                     return failures;
                   })
      .def("table",
           [](HeldRun& self, const std::string& name) {
             return Table{WhileSignalsCount(
                 [&](std::stop_token stop) { return self.Table(name, std::move(stop)); })};
           })
      .def("slices",
           [](HeldRun& self, std::optional<std::string> process, std::optional<std::string> thread,
              std::optional<std::string> kind) {
             return Table{WhileSignalsCount([&](std::stop_token stop) {
               return self.Slices({process, thread, kind}, std::move(stop));
             })};
           })
      .def("query", [](HeldRun& self, const std::string& sql) {
        return Table{WhileSignalsCount(
            [&](std::stop_token stop) { return self.Query(sql, std::move(stop)); })};
      });
  module.def("read", &ReadHeld);
  module.def("made", &Made);
}
