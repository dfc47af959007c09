// Data sets of images in a folder, as their authors give them away: MNIST (and what has its form, such as
// Fashion-MNIST) and the binary version of CIFAR-10. Files may be packed (.gz).
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "worker/trainer/data/data_source.h"
#include "worker/trainer/data/file_digests.h"

namespace espalier::trainer {

// `name`: as study files give it. Nothing but digests is read before the source is opened. Error: kInvalidArgument:
// there is no such folder, or it holds none of these data sets.
Result<DataSource> FindImageFiles(const std::string& name, const std::filesystem::path& folder, FileDigests& digests);

}  // namespace espalier::trainer
