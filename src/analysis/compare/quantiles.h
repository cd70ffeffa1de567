#pragma once

namespace tacho {

// The value that Student's t of so many degrees of freedom stays below with probability `p`. Both
// inside (0, 1) and above 0; the normal distribution's from 1e6 degrees on.
double StudentQuantile(double p, double degrees_of_freedom);

}  // namespace tacho
