// Pictures in a folder for each class: train/CLASS/*.png and test/CLASS/*.png, or .jpg, .jpeg. They have the size of
// the first, and become uint8 tensors of three colours.
#pragma once

#include "worker/trainer/data/data_files.h"

namespace espalier::trainer {

// The classes are the folders in train/, in the order of their names.
std::optional<DataFiles> FindPictures(const std::filesystem::path& folder);

}  // namespace espalier::trainer
