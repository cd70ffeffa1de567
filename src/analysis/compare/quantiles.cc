#include "analysis/compare/quantiles.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>

namespace tacho {

double StudentQuantile(double p, double degrees_of_freedom) {
  return boost::math::quantile(
      boost::math::students_t_distribution<double>(std::min(degrees_of_freedom, 1e6)), p);
}

}  // namespace tacho
