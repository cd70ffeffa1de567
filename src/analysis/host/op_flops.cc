#include "analysis/host/op_flops.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/host/op_shapes.h"

namespace tacho {
namespace {

// The numbers in the element at `index` of ["", "[1, 1]", "2"]. An element holds one number or a
// list.
std::optional<Sizes> NumbersOf(std::string_view json, size_t index) {
  for (size_t i = 0, at = 0;; ++i) {
    const size_t open = json.find('"', at);
    if (open == std::string_view::npos) return std::nullopt;
    const size_t close = json.find('"', open + 1);
    if (close == std::string_view::npos) return std::nullopt;
    at = close + 1;
    if (i < index) continue;
    std::string_view text = json.substr(open + 1, close - open - 1);
    if (text.starts_with('[')) text.remove_prefix(1);
    if (text.ends_with(']')) text.remove_suffix(1);
    return SizesIn("[[" + std::string(text) + "]]").front();
  }
}

// A product that becomes unset when it overflows an int64.
class Product {
 public:
  Product& Times(int64_t factor) {
    if (value_ && __builtin_mul_overflow(*value_, factor, &*value_)) value_.reset();
    return *this;
  }
  Product& Times(const Sizes& factors) {
    for (const int64_t factor : factors) Times(factor);
    return *this;
  }
  Product& Over(int64_t divisor) {
    if (value_) *value_ /= divisor;
    return *this;
  }
  [[nodiscard]] std::optional<int64_t> value() const { return value_; }

 private:
  std::optional<int64_t> value_ = 1;
};

std::optional<int64_t> MatrixProduct(const Sizes& left, const Sizes& right, bool batch) {
  if (left.empty() || left.back() == 0 || (batch && left.front() == 0)) return 0;
  Product product;
  product.Times(left).Over(left.back());
  if (batch) product.Over(left.front());
  return product.Times(right).Times(2).value();
}

std::optional<int64_t> Convolution(const Sizes& input, const Sizes& weight,
                                   std::string_view inputs) {
  constexpr size_t kStride = 3, kPadding = 4, kDilation = 5, kGroups = 6;
  const auto stride = NumbersOf(inputs, kStride), padding = NumbersOf(inputs, kPadding);
  const auto dilation = NumbersOf(inputs, kDilation), groups = NumbersOf(inputs, kGroups);
  if (input.size() != 4 || weight.size() != 4 || !stride || !padding || !dilation || !groups ||
      stride->size() != 2 || padding->size() != 2 || dilation->size() != 2 || groups->size() != 1) {
    return std::nullopt;
  }
  Product product;
  product.Times(2).Times(input[0]);
  for (const size_t i : {0u, 1u}) {  // height and width
    constexpr int64_t kMost = int64_t{1} << 30;
    const int64_t step = (*stride)[i], size = input[2 + i], kernel = weight[2 + i];
    if (step == 0 || std::max({step, size, kernel, (*padding)[i], (*dilation)[i]}) > kMost) {
      return std::nullopt;
    }
    const int64_t room = size + 2 * (*padding)[i] - (*dilation)[i] * (kernel - 1) - 1;
    if (room < 0) return std::nullopt;
    product.Times(room / step + 1).Times(kernel);
  }
  if (groups->front() == 0) return std::nullopt;
  return product.Times(input[1]).Times(weight[0]).Over(groups->front()).value();
}

}  // namespace

OpFlops::OpFlops(const Trace& trace)
    : trace_(trace), dims_(trace, "Input Dims", "Input dims"), inputs_(trace, "Concrete Inputs") {
  if (!dims_.anywhere()) return;
  formula_.resize(trace.words.strings.size());
  for (const auto& [name, formula] : {std::pair{"aten::mm", Formula::kProduct},
                                      {"aten::addmm", Formula::kAddedProduct},
                                      {"aten::bmm", Formula::kBatch},
                                      {"aten::baddbmm", Formula::kAddedBatch},
                                      {"aten::conv2d", Formula::kConv},
                                      {"aten::mul", Formula::kSize},
                                      {"aten::add", Formula::kSize}}) {
    const StringId id = trace.words.strings.Find(name);
    if (id != StringId::kEmpty) formula_[Index(id)] = formula;
  }
}

void OpFlops::Add(uint32_t op, OpRow& row) {
  if (formula_.empty()) return;
  const Formula formula = formula_[Index(trace_.host_ops.name[op])];
  if (formula == Formula::kNone || (row.count > 1 && !row.flops)) return;
  const std::optional<int64_t> more = Of(formula, op);
  int64_t sum = row.flops.value_or(0);
  const bool fits = more && !__builtin_add_overflow(sum, *more, &sum);
  row.flops = fits ? std::optional(sum) : std::nullopt;
}

std::optional<int64_t> OpFlops::Of(Formula formula, uint32_t op) {
  const ArgsOf args{trace_.host_ops.args[op]};
  const StringId dims = dims_.Text(args);
  const uint64_t key = uint64_t{static_cast<uint8_t>(formula)} << 32 | Index(dims);
  const auto [at, is_new] = known_.try_emplace(key);
  if (!is_new && formula != Formula::kConv) return at->second;
  const auto sizes = SizesIn(trace_.Text(dims));
  const auto has = [&](size_t index) { return index < sizes.size() && sizes[index]; };
  std::optional<int64_t> flops;
  switch (formula) {
    case Formula::kProduct:
    case Formula::kBatch:
      if (has(0) && has(1)) flops = MatrixProduct(*sizes[0], *sizes[1], formula == Formula::kBatch);
      break;
    case Formula::kAddedProduct:
    case Formula::kAddedBatch:
      if (has(1) && has(2)) {
        flops = MatrixProduct(*sizes[1], *sizes[2], formula == Formula::kAddedBatch);
      }
      break;
    case Formula::kConv:
      if (has(0) && has(1)) {
        flops = Convolution(*sizes[0], *sizes[1], trace_.Text(inputs_.Text(args)));
      }
      break;
    case Formula::kSize:
      if (has(0)) flops = Product().Times(*sizes[0]).value();
      break;
    case Formula::kNone:
      break;
  }
  return at->second = flops;
}

}  // namespace tacho
