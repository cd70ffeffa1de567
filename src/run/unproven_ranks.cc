#include "run/unproven_ranks.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "base/parse_json.h"
#include "run/run_place.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostSentences = 1000;

}  // namespace

std::vector<std::string> UnprovenOfRunJson(std::string_view text) {
  std::vector<std::string> unproven;
  const Json run = ParseJson(text);
  const auto missing = run.is_object() ? run.find("missing") : run.end();
  if (missing == run.end() || !missing->is_array()) return unproven;
  for (const Json& sentence : *missing) {
    if (sentence.is_string() && unproven.size() < kMostSentences)
      unproven.push_back(sentence.get<std::string>());
  }
  return unproven;
}

std::vector<std::string> FindUnproven(const std::vector<std::string>& traces) {
  std::set<std::string> folders;
  for (const std::string& trace : traces) {
    if (const auto place = RunPlaceOf(trace)) folders.insert(place->folder);
  }
  std::vector<std::string> unproven;
  for (const std::string& folder : folders)
    std::ranges::move(UnprovenOfRunJson(ReadRunJson(folder)), std::back_inserter(unproven));
  return unproven;
}

}  // namespace tacho
