#pragma once

namespace tacho {

// The `p` quantile of Student's t distribution; from 1e6 degrees of freedom on, of the normal
// distribution. `p` is inside (0, 1), `degrees_of_freedom` above 0.
double StudentQuantile(double p, double degrees_of_freedom);

}  // namespace tacho
