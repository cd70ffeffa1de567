#include "analysis/host/gemms.h"

#include <algorithm>
#include <utility>

#include "analysis/host/op_shapes.h"

namespace tacho {
namespace {

// `left`: the place of the left matrix among the inputs; the right one follows.
constexpr struct {
  std::string_view op;
  uint8_t left;
} kProducts[] = {{"aten::mm", 0},
                 {"aten::addmm", 1},
                 {"aten::bmm", 0},
                 {"aten::baddbmm", 1},
                 {"aten::_scaled_mm", 0},
                 {"_C::cutlass_scaled_mm", 1},
                 {"sgl_kernel::fp8_scaled_mm", 0},
                 {"sgl_kernel::int8_scaled_mm", 0}};

}  // namespace

int64_t BytesOfInputType(std::string_view type) {
  if (type == "double") return 8;
  if (type == "float") return 4;
  if (type == "c10::BFloat16" || type == "c10::Half") return 2;
  return type.starts_with("c10::Float8_") || type == "signed char" ? 1 : 0;
}

GemmCollector::GemmCollector(const Trace& trace)
    : trace_(trace), dims_(trace, "Input Dims", "Input dims"), types_(trace, "Input type") {
  if (!dims_.anywhere() || !types_.anywhere()) return;
  for (const auto& [op, left] : kProducts) {
    if (const StringId id = trace.words.strings.Find(op); id != StringId::kEmpty)
      left_.emplace(id, left);
  }
}

void GemmCollector::Add(uint32_t op, DurationNs device) {
  const StringId name = trace_.host_ops.name[op];
  const auto left = left_.find(name);
  if (left == left_.end() || device.ns <= 0) return;
  const ArgsOf args{trace_.host_ops.args[op]};
  const StringId dims = dims_.Text(args), types = types_.Text(args);
  const auto [at, is_new] = known_.try_emplace({name, dims, types});
  if (is_new) at->second = RowOf(left->second, name, dims, types);
  if (at->second == nullptr) return;
  ++at->second->count;
  at->second->device += device;
}

// Null if these are not two matrices that fit each other, of known types.
GemmRow* GemmCollector::RowOf(uint8_t left, StringId name, StringId dims, StringId types) {
  const auto sizes = SizesIn(trace_.Text(dims));
  const auto kinds = TypesIn(trace_.Text(types));
  const size_t right = left + size_t{1};
  if (sizes.size() <= right || kinds.size() <= right || !sizes[left] || !sizes[right])
    return nullptr;
  const Sizes &a = *sizes[left], &b = *sizes[right];
  const bool batched = a.size() == 3;
  if (a.size() != b.size() || (a.size() != 2 && !batched) || a.back() != b[b.size() - 2] ||
      (batched && a.front() != b.front()))
    return nullptr;
  const int64_t of_left = BytesOfInputType(kinds[left]), of_right = BytesOfInputType(kinds[right]);
  if (of_left == 0 || of_right == 0) return nullptr;
  std::string type(kinds[left]);
  if (kinds[left] != kinds[right]) type += " x " + std::string(kinds[right]);
  GemmRow row{std::string(trace_.Text(name)),
              type,
              batched ? a[0] : 1,
              a[a.size() - 2],
              b.back(),
              a.back()};
  const auto m = static_cast<double>(row.m), n = static_cast<double>(row.n),
             k = static_cast<double>(row.k), batch = static_cast<double>(row.batch);
  row.flops = 2 * batch * m * n * k;
  row.bytes =
      batch * (m * k * static_cast<double>(of_left) + k * n * static_cast<double>(of_right) +
               m * n * static_cast<double>(std::max(of_left, int64_t{2})));
  const Key key{trace_.Text(name), std::move(type), row.batch, row.m, row.n, row.k};
  return &rows_.try_emplace(key, std::move(row)).first->second;
}

std::vector<GemmRow> GemmCollector::Finish() && {
  std::vector<GemmRow> found;
  for (auto& [_, row] : rows_) {
    row.flops *= static_cast<double>(row.count);
    row.bytes *= static_cast<double>(row.count);
    found.push_back(std::move(row));
  }
  std::ranges::stable_sort(found, std::greater{}, &GemmRow::device);
  return found;
}

}  // namespace tacho
