#pragma once

#include "analysis/requests/requests.h"
#include "text/json_writer.h"

namespace tacho {

// The requests of a run: `requests` of docs/json.md.
void WriteRequestsJson(JsonWriter& json, const RequestAnalysis& requests);

}  // namespace tacho
