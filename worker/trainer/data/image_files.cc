#include "worker/trainer/data/image_files.h"

#include <algorithm>

#include "worker/trainer/data/augmentation.h"
#include "worker/trainer/data/cifar.h"
#include "worker/trainer/data/idx.h"

namespace espalier::trainer {
namespace {

const std::string kImagesVersion = "images-2";

Result<LabeledSamples> ReadMnist(const Paths& images_and_labels) {
  ESPALIER_ASSIGN(const at::Tensor images, ReadIdx(images_and_labels[0]));
  ESPALIER_ASSIGN(const at::Tensor labels, ReadIdx(images_and_labels[1]));
  if (images.dim() != 3) return Malformed(images_and_labels[0], "expected images: an array of three dimensions");
  if (labels.dim() != 1 || images.size(0) != labels.size(0)) {
    return Malformed(images_and_labels[1],
                     "it does not hold one label for each of " + std::to_string(images.size(0)) + " images");
  }
  return LabeledSamples{images.unsqueeze(1), labels.to(at::kLong)};
}

DataFiles FilesOf(const Paths& training, const Paths& validation, Result<LabeledSamples> (*read)(const Paths&)) {
  return {.kind = DataKind::kImages,
          .version = kImagesVersion,
          .training = training,
          .validation = validation,
          .hyper_parameters = DeclareAugmentation(),
          .read = [training, validation, read]() -> Result<OpenBatches> {
            ESPALIER_ASSIGN(LabeledSamples training_samples, read(training));
            ESPALIER_ASSIGN(LabeledSamples validation_samples, read(validation));
            const std::int64_t class_count = 1 + std::max(training_samples.labels.max().item<std::int64_t>(),
                                                          validation_samples.labels.max().item<std::int64_t>());
            return ToBatches(std::move(training_samples), std::move(validation_samples), class_count,
                             validation.front());
          }};
}

bool AreAllThere(const Paths& paths) {
  return std::ranges::none_of(paths, [](const std::filesystem::path& path) { return path.empty(); });
}

}  // namespace

std::optional<DataFiles> FindMnist(const std::filesystem::path& folder) {
  const Paths training{FindFile(folder, "train-images-idx3-ubyte"), FindFile(folder, "train-labels-idx1-ubyte")};
  const Paths validation{FindFile(folder, "t10k-images-idx3-ubyte"), FindFile(folder, "t10k-labels-idx1-ubyte")};
  if (!AreAllThere(training) || !AreAllThere(validation)) return std::nullopt;
  return FilesOf(training, validation, ReadMnist);
}

std::optional<DataFiles> FindCifar(const std::filesystem::path& folder) {
  const Paths validation{FindFile(folder, "test_batch.bin")};
  Paths training;
  for (int i = 1;; ++i) {
    const std::filesystem::path path = FindFile(folder, "data_batch_" + std::to_string(i) + ".bin");
    if (path.empty()) break;
    training.push_back(path);
  }
  if (training.empty() || !AreAllThere(validation)) return std::nullopt;
  return FilesOf(training, validation, ReadCifar);
}

}  // namespace espalier::trainer
