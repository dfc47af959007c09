#include "worker/trainer/data/image_files.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/digest.h"
#include "worker/trainer/data/cifar.h"
#include "worker/trainer/data/idx.h"
#include "worker/trainer/data/sample_batches.h"
#include "worker/trainer/data/standardise.h"

namespace espalier::trainer {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

// Raised when what a network is given for the same files changes.
const std::string kImagesVersion = "images-1";

struct Files {
  Paths training;
  Paths validation;
  Result<LabeledSamples> (*read)(const Paths&) = nullptr;
};

// The file, packed or not; empty if there is none.
fs::path Find(const fs::path& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"}) {
    if (const fs::path path = folder / (name + ending); fs::is_regular_file(path)) return path;
  }
  return {};
}

Result<LabeledSamples> ReadMnist(const Paths& images_and_labels) {
  ESPALIER_ASSIGN(const at::Tensor images, ReadIdx(images_and_labels[0]));
  ESPALIER_ASSIGN(const at::Tensor labels, ReadIdx(images_and_labels[1]));
  if (images.dim() != 3 || labels.dim() != 1 || images.size(0) != labels.size(0)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     images_and_labels[1].string() + ": it does not hold one label for each image");
  }
  return LabeledSamples{images.unsqueeze(1), labels.to(at::kLong)};
}

Result<Files> FindFiles(const fs::path& folder) {
  const Paths mnist{Find(folder, "train-images-idx3-ubyte"), Find(folder, "train-labels-idx1-ubyte"),
                    Find(folder, "t10k-images-idx3-ubyte"), Find(folder, "t10k-labels-idx1-ubyte")};
  if (std::ranges::none_of(mnist, [](const fs::path& path) { return path.empty(); })) {
    return Files{{mnist[0], mnist[1]}, {mnist[2], mnist[3]}, ReadMnist};
  }
  Files cifar{{}, {Find(folder, "test_batch.bin")}, ReadCifar};
  for (int i = 1;; ++i) {
    const fs::path path = Find(folder, "data_batch_" + std::to_string(i) + ".bin");
    if (path.empty()) break;
    cifar.training.push_back(path);
  }
  if (!cifar.training.empty() && !cifar.validation.front().empty()) return cifar;
  return MakeError(ErrorCode::kInvalidArgument, folder.string() + " holds neither the files of MNIST nor of CIFAR-10");
}

Result<std::string> DigestOfFiles(const Paths& paths, FileDigests& digests) {
  std::string text = kImagesVersion;
  for (const fs::path& path : paths) {
    ESPALIER_ASSIGN(const std::string digest, digests.Of(path));
    text += "\n" + path.filename().string() + " " + digest;
  }
  return Sha256Hex(text);
}

Result<std::shared_ptr<const Classification>> Read(const Files& files) {
  ESPALIER_ASSIGN(LabeledSamples training, files.read(files.training));
  ESPALIER_ASSIGN(LabeledSamples validation, files.read(files.validation));
  if (training.inputs.sizes().slice(1) != validation.inputs.sizes().slice(1)) {
    return MakeError(ErrorCode::kInvalidArgument, files.validation[0].string() + ": its images are of another size");
  }
  const std::int64_t class_count =
      1 + std::max(training.labels.max().item<std::int64_t>(), validation.labels.max().item<std::int64_t>());
  return std::make_shared<const Classification>(Standardised(std::move(training), std::move(validation), class_count));
}

}  // namespace

Result<DataSource> FindImageFiles(const std::string& name, const fs::path& folder, FileDigests& digests) {
  ESPALIER_ASSIGN(const Files files, FindFiles(folder));
  ESPALIER_ASSIGN(const std::string training_digest, DigestOfFiles(files.training, digests));
  ESPALIER_ASSIGN(const std::string validation_digest, DigestOfFiles(files.validation, digests));
  const auto read_once = std::make_shared<std::shared_ptr<const Classification>>();
  return DataSource{.name = name,
                    .kind = DataKind::kImages,
                    .training_digest = training_digest,
                    .validation_digest = validation_digest,
                    .open = [files, read_once](std::uint64_t seed) {
                      if (*read_once == nullptr) {
                        const auto read = Read(files);
                        if (!read.has_value()) throw std::runtime_error(read.error().message);
                        *read_once = *read;
                      }
                      return MakeSampleBatches(*read_once, seed);
                    }};
}

}  // namespace espalier::trainer
