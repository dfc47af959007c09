#include "worker/trainer/data/standardise.h"

#include <ATen/ops/tensor.h>

#include <array>
#include <cmath>
#include <vector>

namespace espalier::trainer {
namespace {

struct Scale {
  std::vector<float> offsets;
  std::vector<float> factors;

  void Add(double mean, double variance) {
    offsets.push_back(static_cast<float>(mean));
    factors.push_back(variance > 0 ? static_cast<float>(1 / std::sqrt(variance)) : 1.0F);
  }
};

// How often each value comes in a channel decides mean and deviation, whole numbers until the end.
Scale ScaleOfImages(const at::Tensor& images) {
  Scale scale;
  const std::int64_t plane = images.size(2) * images.size(3);
  for (std::int64_t channel = 0; channel < images.size(1); ++channel) {
    std::array<std::int64_t, 256> counts{};
    for (std::int64_t i = 0; i < images.size(0); ++i) {
      const std::uint8_t* const pixels =
          images.data_ptr<std::uint8_t>() + i * images.stride(0) + channel * images.stride(1);
      for (std::int64_t pixel = 0; pixel < plane; ++pixel) ++counts[pixels[pixel]];
    }
    std::int64_t sum = 0;
    std::int64_t square_sum = 0;
    for (std::int64_t value = 0; value < 256; ++value) {
      sum += counts[static_cast<std::size_t>(value)] * value;
      square_sum += counts[static_cast<std::size_t>(value)] * value * value;
    }
    const auto count = static_cast<double>(images.size(0) * plane);
    const double mean = static_cast<double>(sum) / count;
    scale.Add(mean, static_cast<double>(square_sum) / count - mean * mean);
  }
  return scale;
}

Scale ScaleOfColumns(const at::Tensor& table) {
  Scale scale;
  const auto rows = table.accessor<float, 2>();
  const auto count = static_cast<double>(rows.size(0));
  for (std::int64_t column = 0; column < rows.size(1); ++column) {
    double mean = 0;
    for (std::int64_t row = 0; row < rows.size(0); ++row) mean += static_cast<double>(rows[row][column]) / count;
    double variance = 0;
    for (std::int64_t row = 0; row < rows.size(0); ++row) {
      const double distance = static_cast<double>(rows[row][column]) - mean;
      variance += distance * distance / count;
    }
    scale.Add(mean, variance);
  }
  return scale;
}

}  // namespace

Classification Standardised(LabeledSamples training, LabeledSamples validation, std::int64_t class_count) {
  const bool is_table = training.inputs.dim() == 2;
  const Scale scale = is_table ? ScaleOfColumns(training.inputs) : ScaleOfImages(training.inputs);
  const std::vector<std::int64_t> shape =
      is_table ? std::vector<std::int64_t>{-1} : std::vector<std::int64_t>{-1, 1, 1};
  return {.training = std::move(training),
          .validation = std::move(validation),
          .class_count = class_count,
          .offset = at::tensor(scale.offsets).reshape(shape),
          .factor = at::tensor(scale.factors).reshape(shape)};
}

}  // namespace espalier::trainer
