#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

#include "analysis/index/name_index.h"
#include "model/trace.h"

namespace tacho {

// By row of Trace::host_calls: the value that `property` gives for the call's name. `property` is
// called once for each name that occurs. A bool is stored as a byte, because several threads may
// use the result.
template <typename Property>
auto OfEachCall(const Trace& trace, Property property) {
  using Value = std::invoke_result_t<Property, std::string_view>;
  using Kept = std::conditional_t<std::is_same_v<Value, bool>, uint8_t, Value>;
  NameIndex names(trace);
  std::vector<Kept> of_name, of_call(trace.host_calls.size());
  for (size_t row = 0; row < of_call.size(); ++row) {
    const uint32_t number = names[trace.host_calls.name[row]];
    if (number == of_name.size())
      of_name.push_back(static_cast<Kept>(property(trace.Text(trace.host_calls.name[row]))));
    of_call[row] = of_name[number];
  }
  return of_call;
}

}  // namespace tacho
