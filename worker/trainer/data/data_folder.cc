#include "worker/trainer/data/data_folder.h"

#include <array>
#include <stdexcept>

#include "base/digest.h"
#include "worker/trainer/data/data_files.h"
#include "worker/trainer/data/image_files.h"
#include "worker/trainer/data/picture_folder.h"
#include "worker/trainer/data/table_files.h"
#include "worker/trainer/data/text_files.h"

namespace espalier::trainer {
namespace {

// A folder that holds several is of the first form.
constexpr std::array kForms{FindMnist, FindCifar, FindTable, FindText, FindLabeledLines, FindPictures};

Result<DataFiles> FindFiles(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) return Malformed(folder, "there is no such folder");
  for (const FindForm find : kForms) {
    if (std::optional<DataFiles> files = find(folder)) return *std::move(files);
  }
  return Malformed(folder,
                   "it holds no data of a known form: MNIST's or CIFAR-10's files, train.csv and test.csv, "
                   "train.txt and test.txt, or folders train and test with a file CLASS.txt or a folder "
                   "CLASS of pictures for each class");
}

Result<std::string> DigestOfFiles(const DataFiles& files, const Paths& paths, const std::filesystem::path& folder,
                                  FileDigests& digests) {
  std::string text = files.version;
  for (const std::filesystem::path& path : paths) {
    ESPALIER_ASSIGN(const std::string digest, digests.Of(path));
    text += "\n" + path.lexically_relative(folder).string() + " " + digest;
  }
  return Sha256Hex(text);
}

}  // namespace

Result<DataSource> FindDataFolder(const std::string& name, const std::filesystem::path& folder, FileDigests& digests) {
  ESPALIER_ASSIGN(const DataFiles files, FindFiles(folder));
  ESPALIER_ASSIGN(const std::string training_digest, DigestOfFiles(files, files.training, folder, digests));
  ESPALIER_ASSIGN(const std::string validation_digest, DigestOfFiles(files, files.validation, folder, digests));
  const auto opened = std::make_shared<OpenBatches>();
  return DataSource{.name = name,
                    .kind = files.kind,
                    .training_digest = training_digest,
                    .validation_digest = validation_digest,
                    .hyper_parameters = files.hyper_parameters,
                    .open = [read = files.read, opened](std::uint64_t seed) {
                      if (*opened == nullptr) {
                        Result<OpenBatches> open = read();
                        if (!open.has_value()) throw std::runtime_error(open.error().message);
                        *opened = *std::move(open);
                      }
                      return (*opened)(seed);
                    }};
}

}  // namespace espalier::trainer
