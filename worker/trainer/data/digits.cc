#include "worker/trainer/data/digits.h"

#include <ATen/ops/tensor.h>

#include <charconv>
#include <string_view>
#include <vector>

#include "base/check.h"

// Defined in digits_data.S.
extern "C" {
extern const char digits_csv[];
extern const char digits_csv_end[];
}

namespace espalier::trainer {
namespace {

constexpr std::int64_t kPixelCount = 64;
constexpr float kPixelMax = 16;
constexpr std::int64_t kClassCount = 10;
constexpr std::int64_t kValidationEvery = 5;

struct Rows {
  std::vector<float> features;
  std::vector<std::int64_t> labels;

  LabeledSamples ToSamples() const {
    const auto count = static_cast<std::int64_t>(labels.size());
    return {at::tensor(features).reshape({count, kPixelCount}), at::tensor(labels)};
  }
};

// Reads a number and the separator behind it.
int TakeNumber(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  ESPALIER_CHECK(error == std::errc() && end != text.data() + text.size()) << "digits.csv is malformed";
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

Classification Load() {
  std::string_view text(digits_csv, static_cast<std::size_t>(digits_csv_end - digits_csv));
  Rows training;
  Rows validation;
  for (std::int64_t i = 1; !text.empty(); ++i) {
    Rows& rows = i % kValidationEvery == 0 ? validation : training;
    for (std::int64_t pixel = 0; pixel < kPixelCount; ++pixel) {
      rows.features.push_back(static_cast<float>(TakeNumber(text)) / kPixelMax);
    }
    rows.labels.push_back(TakeNumber(text));
  }
  Classification digits{.name = "digits",
                        .training = training.ToSamples(),
                        .validation = validation.ToSamples(),
                        .class_count = kClassCount,
                        .training_digest = {},
                        .validation_digest = {}};
  digits.training_digest = Sha256Of(digits.training);
  digits.validation_digest = Sha256Of(digits.validation);
  return digits;
}

}  // namespace

std::shared_ptr<const Classification> Digits() {
  static const auto digits = std::make_shared<const Classification>(Load());
  return digits;
}

}  // namespace espalier::trainer
