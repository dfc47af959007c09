#include "worker/trainer/data/picture_folder.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <set>

#include "worker/trainer/data/augmentation.h"
#include "worker/trainer/data/decode_picture.h"
#include "worker/trainer/data/file_bytes.h"

namespace espalier::trainer {
namespace {

namespace fs = std::filesystem;

const std::string kPicturesVersion = "pictures-2";

// All pictures of one part, decoded, lie in memory.
constexpr std::int64_t kDecodedBytesMax = std::int64_t{16} << 30;

// What lies in a folder, sorted; nothing if there is no such folder.
Paths Sorted(const fs::path& folder) {
  std::error_code error;
  Paths entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

bool IsPicture(const fs::path& path) {
  const fs::path ending = path.extension();
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

// Of all classes, sorted.
Paths FindPicturesIn(const fs::path& part) {
  Paths pictures;
  for (const fs::path& folder : Sorted(part))
    std::ranges::copy_if(Sorted(folder), std::back_inserter(pictures), IsPicture);
  return pictures;
}

std::string ClassOf(const fs::path& picture) { return picture.parent_path().filename().string(); }

std::string SizeOf(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + " x " + std::to_string(height) + " pixels";
}

Result<at::Tensor> ReadPictures(const Paths& files) {
  at::Tensor all;
  for (std::size_t i = 0; i < files.size(); ++i) {
    ESPALIER_ASSIGN(const std::shared_ptr<const FileBytes> bytes, FileBytes::Open(files[i]));
    Result<Picture> picture = DecodePicture(bytes->bytes());
    if (!picture.has_value()) return Malformed(files[i], picture.error().message);
    const auto count = static_cast<std::int64_t>(files.size());
    if (i == 0) {
      if (count > kDecodedBytesMax / static_cast<std::int64_t>(picture->pixels.size())) {
        return Malformed(files[i],
                         std::to_string(count) + " pictures of its size do not fit into 16 GiB; scale them down");
      }
      all = at::empty({count, 3, picture->height, picture->width}, at::TensorOptions(at::kByte));
    }
    if (picture->height != all.size(2) || picture->width != all.size(3)) {
      return Malformed(files[i], "it has " + SizeOf(picture->width, picture->height) + ", and " + files[0].string() +
                                     " has " + SizeOf(all.size(3), all.size(2)) + "; scale all to one size");
    }
    const at::Tensor pixels =
        at::from_blob(picture->pixels.data(), {picture->height, picture->width, 3}, at::TensorOptions(at::kByte));
    all[static_cast<std::int64_t>(i)].copy_(pixels.permute({2, 0, 1}));
  }
  return all;
}

Result<LabeledSamples> ReadPart(const Paths& files, const std::vector<std::string>& classes) {
  at::Tensor labels = at::empty({static_cast<std::int64_t>(files.size())}, at::TensorOptions(at::kLong));
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto it = std::ranges::find(classes, ClassOf(files[i]));
    if (it == classes.end()) return Malformed(files[i], "there is no class '" + ClassOf(files[i]) + "' for training");
    labels[static_cast<std::int64_t>(i)] = it - classes.begin();
  }
  ESPALIER_ASSIGN(const at::Tensor inputs, ReadPictures(files));
  return LabeledSamples{inputs, labels};
}

}  // namespace

std::optional<DataFiles> FindPictures(const fs::path& folder) {
  const Paths training = FindPicturesIn(folder / "train");
  const Paths validation = FindPicturesIn(folder / "test");
  if (training.empty() || validation.empty()) return std::nullopt;
  return DataFiles{.kind = DataKind::kImages,
                   .version = kPicturesVersion,
                   .training = training,
                   .validation = validation,
                   .hyper_parameters = DeclareAugmentation(),
                   .read = [training, validation]() -> Result<OpenBatches> {
                     std::set<std::string> names;
                     for (const fs::path& picture : training) names.insert(ClassOf(picture));
                     const std::vector<std::string> classes(names.begin(), names.end());
                     ESPALIER_ASSIGN(LabeledSamples training_samples, ReadPart(training, classes));
                     ESPALIER_ASSIGN(LabeledSamples validation_samples, ReadPart(validation, classes));
                     return ToBatches(std::move(training_samples), std::move(validation_samples),
                                      static_cast<std::int64_t>(classes.size()), validation.front());
                   }};
}

}  // namespace espalier::trainer
