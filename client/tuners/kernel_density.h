// A density over the unit cube of a search space, out of points in it (J. Bergstra et al., Algorithms for
// Hyper-Parameter Optimization, NIPS 2011, section 4.1): an even one that counts as one point, and for each point a
// product of kernels, one a dimension, cut off at the bounds. In a range of numbers a kernel is normal, as wide as it
// is to the farther of the point's two neighbours there, within limits; among choices it is the point's own, or with
// some chance another (J. Aitchison, C. Aitken, Biometrika 63, 1976). Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "client/space/ranges.h"

namespace espalier::tuners {

// A number in [0, 1) for each dimension.
using Point = std::vector<double>;

class KernelDensity {
 public:
  // REQUIRES: there are points, each with a number for each dimension.
  KernelDensity(std::vector<Point> points, const std::vector<Dimension>& dimensions);

  // The logarithm of the density at the point, but for a constant of the space; finite. O(points x dimensions).
  double LogAt(const Point& point) const;

  // A point of this density.
  Point Draw(const NextNumber& next) const;

 private:
  struct Kernel {
    Point center;
    std::vector<double> widths;  // a standard deviation; of choices the chance of another one
    double log_scale = 0;        // so that it comes to 1 within the bounds
  };

  void SetWidths(std::size_t dimension);
  double LogScaleOf(const Kernel& kernel) const;
  double LogAt(const Kernel& kernel, const Point& point) const;

  std::vector<Dimension> dimensions_;
  std::vector<Kernel> kernels_;
};

}  // namespace espalier::tuners
