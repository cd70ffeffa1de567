#pragma once

#include <string>
#include <vector>

#include "doctor/doctor_checks.h"
#include "text/text_style.h"

namespace tacho {

// What `tacho doctor` found, the worst first; then what it looked at, and what it could not look
// at.
std::string DoctorText(const std::vector<std::string>& subjects, const Examination& examination,
                       const TextStyle& style);
// The same as one JSON object, schema 1 (docs/json.md): subjects[], checks[], findings[].
std::string DoctorJson(const std::vector<std::string>& subjects, const Examination& examination);

}  // namespace tacho
