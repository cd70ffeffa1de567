#pragma once

#include <string>

namespace tacho {

// The CSS of a report's colours: variables for light, dark and paper, and a class for each colour
// of a palette (view/palette.h): .w0 to .w11 for work; .p0 and on for phases; .i0 for causes of
// idle time; .e0 for exposure; .h0 for the host; .s0 to .s3 for compute, exposed communication,
// exposed copies and idle. Each class has a counterpart such as .on-w0 for text on that colour. The
// page of `tacho view` has the same colours (web/src/colors.ts).
std::string HtmlColors();

}  // namespace tacho
