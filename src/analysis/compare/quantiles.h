#pragma once

namespace tacho {

// The `p` quantile of Student's t distribution. Uses at most 1e6 degrees of freedom, which gives
// practically the normal distribution. `p` must be inside (0, 1), `degrees_of_freedom` above 0.
double StudentQuantile(double p, double degrees_of_freedom);

}  // namespace tacho
