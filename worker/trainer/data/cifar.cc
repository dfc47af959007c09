#include "worker/trainer/data/cifar.h"

#include <ATen/ops/cat.h>

#include "worker/trainer/data/byte_tensor.h"
#include "worker/trainer/data/data_files.h"

namespace espalier::trainer {
namespace {

constexpr std::int64_t kSide = 32;
constexpr std::int64_t kPlane = kSide * kSide;
constexpr std::int64_t kRecord = 1 + 3 * kPlane;

Result<LabeledSamples> ReadOneCifar(const std::filesystem::path& path) {
  ESPALIER_ASSIGN(const std::shared_ptr<const FileBytes> file, FileBytes::Open(path));
  const auto size = static_cast<std::int64_t>(file->bytes().size());
  if (size == 0 || size % kRecord != 0) {
    return Malformed(path, "it is " + std::to_string(size) +
                               " bytes long, no multiple of an image's 3073: it is not whole, "
                               "or not the binary version of CIFAR-10");
  }
  const std::int64_t count = size / kRecord;
  const at::Tensor labels = BytesOf(file, 0, {count}, {kRecord}).to(at::kLong);
  if (const auto wrong = labels.argmax().item<std::int64_t>(); labels[wrong].item<std::int64_t>() >= kCifarClassCount) {
    return Malformed(path, "byte " + std::to_string(wrong * kRecord) + ": expected a label, 0 to 9, got " +
                               std::to_string(labels[wrong].item<std::int64_t>()));
  }
  return LabeledSamples{BytesOf(file, 1, {count, 3, kSide, kSide}, {kRecord, kPlane, kSide, 1}), labels};
}

}  // namespace

Result<LabeledSamples> ReadCifar(const std::vector<std::filesystem::path>& paths) {
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> labels;
  for (const std::filesystem::path& path : paths) {
    ESPALIER_ASSIGN(const LabeledSamples samples, ReadOneCifar(path));
    inputs.push_back(samples.inputs);
    labels.push_back(samples.labels);
  }
  if (paths.size() == 1) return LabeledSamples{inputs.front(), labels.front()};
  return LabeledSamples{at::cat(inputs), at::cat(labels)};
}

}  // namespace espalier::trainer
