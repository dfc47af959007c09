#include "client/tuners/kernel_density.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace espalier::tuners {
namespace {

constexpr double kKernelsMax = 100;  // a kernel is at least as wide as so many beside each other
constexpr double kChanceOfAnother = 0.5;
constexpr double kBelowOne = 1 - 0x1p-53;

double NormalBelow(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

// What is to the farther of the two neighbours of each, in the order of `values`, which ascend; of the first and the
// last to the only one.
std::vector<double> ToFartherNeighbours(const std::vector<double>& values) {
  std::vector<double> distances(values.size(), 0);
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double distance = values[i] - values[i - 1];
    distances[i - 1] = std::max(distances[i - 1], distance);
    distances[i] = distance;
  }
  return distances;
}

}  // namespace

KernelDensity::KernelDensity(std::vector<Point> points, const std::vector<Dimension>& dimensions)
    : dimensions_(dimensions) {
  for (Point& point : points) kernels_.push_back({std::move(point), std::vector<double>(dimensions.size()), 0});
  for (std::size_t i = 0; i < dimensions_.size(); ++i) SetWidths(i);
  for (Kernel& kernel : kernels_) kernel.log_scale = LogScaleOf(kernel);
}

void KernelDensity::SetWidths(std::size_t dimension) {
  const auto count = static_cast<double>(kernels_.size());
  if (const std::size_t choices = dimensions_[dimension].choices; choices > 0) {
    const double others = static_cast<double>(choices - 1) / static_cast<double>(choices);
    const double chance = kChanceOfAnother * std::pow(count, -1 / (4 + static_cast<double>(dimensions_.size())));
    for (Kernel& kernel : kernels_) kernel.widths[dimension] = std::min(chance, others);
    return;
  }
  std::ranges::stable_sort(kernels_, {}, [&](const Kernel& kernel) { return kernel.center[dimension]; });
  std::vector<double> centers;
  for (const Kernel& kernel : kernels_) centers.push_back(kernel.center[dimension]);
  const std::vector<double> distances = ToFartherNeighbours(centers);
  const double least = 1 / std::min(kKernelsMax, count + 2);
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    kernels_[i].widths[dimension] = std::clamp(distances[i], least, 1.0);
  }
}

double KernelDensity::LogScaleOf(const Kernel& kernel) const {
  double log = 0;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    if (dimensions_[i].choices > 0) continue;
    const double width = kernel.widths[i];
    const double center = kernel.center[i];
    const double within = NormalBelow((1 - center) / width) - NormalBelow(-center / width);
    log -= std::log(width * within * std::sqrt(2 * std::numbers::pi));
  }
  return log;
}

// Relative to an even density.
double KernelDensity::LogAt(const Kernel& kernel, const Point& point) const {
  double log = kernel.log_scale;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    const double width = kernel.widths[i];
    if (const std::size_t choices = dimensions_[i].choices; choices > 0) {
      const bool same = ChosenOf(choices, kernel.center[i]) == ChosenOf(choices, point[i]);
      const auto count = static_cast<double>(choices);
      log += std::log(same ? (1 - width) * count : width * count / (count - 1));
    } else {
      const double off = (point[i] - kernel.center[i]) / width;
      log -= off * off / 2;
    }
  }
  return log;
}

double KernelDensity::LogAt(const Point& point) const {
  std::vector<double> logs{0};  // the even one's
  for (const Kernel& kernel : kernels_) logs.push_back(LogAt(kernel, point));
  const double most = *std::ranges::max_element(logs);
  const double sum = std::transform_reduce(logs.begin(), logs.end(), 0.0, std::plus<>(),
                                           [&](double log) { return std::exp(log - most); });
  return most + std::log(sum / static_cast<double>(logs.size()));
}

Point KernelDensity::Draw(const NextNumber& next) const {
  const std::size_t chosen = ChosenOf(kernels_.size() + 1, next());
  Point point(dimensions_.size());
  if (chosen == kernels_.size()) {
    std::ranges::generate(point, next);
    return point;
  }
  const Kernel& kernel = kernels_[chosen];
  point = kernel.center;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    const double width = kernel.widths[i];
    if (const std::size_t choices = dimensions_[i].choices; choices > 0) {
      if (next() >= width) continue;
      // Any but its own, each as likely.
      const std::size_t step = 1 + ChosenOf(choices - 1, next());
      const std::size_t other = (ChosenOf(choices, point[i]) + step) % choices;
      point[i] = (static_cast<double>(other) + 0.5) / static_cast<double>(choices);
      continue;
    }
    do {  // G. Box, M. Muller, A Note on the Generation of Random Normal Deviates, 1958
      const double radius = std::sqrt(-2 * std::log1p(-next()));
      point[i] = kernel.center[i] + width * radius * std::cos(2 * std::numbers::pi * next());
    } while (point[i] < 0 || point[i] > kBelowOne);
  }
  return point;
}

}  // namespace espalier::tuners
