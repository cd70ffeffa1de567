#pragma once

#include <string>

namespace tacho {

// CSS: the variables of a report's colours, light, dark and on paper, and the classes of what is
// drawn, by palette (view/palette.h) and colour: .w0 to .w11 work, .p0 phases, .i0 causes of idle
// time, .e0 exposure, .h0 the host, .s0 compute, exposed communication, exposed copies, idle. Each
// class has a counterpart such as .on-w0, the colour of text on it. The colours are those of the
// page of `tacho view` (web/src/colors.ts).
std::string HtmlColors();

}  // namespace tacho
