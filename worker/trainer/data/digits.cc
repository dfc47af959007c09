#include "worker/trainer/data/digits.h"

#include <ATen/ops/tensor.h>

#include <charconv>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/digest.h"
#include "worker/trainer/data/augmentation.h"
#include "worker/trainer/data/sample_batches.h"

// Defined in digits_data.S.
extern "C" {
extern const char digits_csv[];
extern const char digits_csv_end[];
}

namespace espalier::trainer {
namespace {

// Raised when what a network is given changes.
const std::string kDigitsVersion = "digits-2";
constexpr std::int64_t kWidth = 8;
constexpr float kPixelMax = 16;
constexpr std::int64_t kClassCount = 10;
constexpr std::int64_t kValidationEvery = 5;

struct Rows {
  std::vector<std::uint8_t> pixels;
  std::vector<std::int64_t> labels;

  LabeledSamples ToSamples() const {
    const auto count = static_cast<std::int64_t>(labels.size());
    return {at::tensor(pixels).reshape({count, 1, kWidth, kWidth}), at::tensor(labels)};
  }
};

std::string_view DigitsFile() { return {digits_csv, static_cast<std::size_t>(digits_csv_end - digits_csv)}; }

// Reads a number and the separator behind it.
std::uint8_t TakeNumber(std::string_view& text) {
  std::uint8_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  ESPALIER_CHECK(error == std::errc() && end != text.data() + text.size()) << "digits.csv is malformed";
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

std::shared_ptr<const Classification> LoadDigits() {
  Rows training;
  Rows validation;
  std::string_view text = DigitsFile();
  for (std::int64_t i = 1; !text.empty(); ++i) {
    Rows& rows = i % kValidationEvery == 0 ? validation : training;
    for (std::int64_t pixel = 0; pixel < kWidth * kWidth; ++pixel) rows.pixels.push_back(TakeNumber(text));
    rows.labels.push_back(TakeNumber(text));
  }
  return std::make_shared<const Classification>(Classification{.training = training.ToSamples(),
                                                               .validation = validation.ToSamples(),
                                                               .class_count = kClassCount,
                                                               .offset = at::tensor(0.0F),
                                                               .factor = at::tensor(1 / kPixelMax)});
}

}  // namespace

DataSource Digits() {
  const std::string digest = Sha256Hex(DigitsFile());
  return {.name = "digits",
          .kind = DataKind::kImages,
          .training_digest = Sha256Hex(kDigitsVersion + "\n" + digest),
          .validation_digest = digest,
          .hyper_parameters = DeclareAugmentation(),
          .open = [](std::uint64_t seed) {
            static const std::shared_ptr<const Classification> digits = LoadDigits();
            return MakeSampleBatches(digits, seed);
          }};
}

}  // namespace espalier::trainer
