// Tables of numbers with a label in each row: train.csv and test.csv (docs/trainers.md), packed (.gz) or not.
#pragma once

#include "worker/trainer/data/data_files.h"

namespace espalier::trainer {

// The labels may be any texts: the classes are those of train.csv, in the order of their bytes.
std::optional<DataFiles> FindTable(const std::filesystem::path& folder);

}  // namespace espalier::trainer
