// Plain texts, packed (.gz) or not; those that are not packed are mapped, and stay bytes.
#pragma once

#include "worker/trainer/data/data_files.h"

namespace espalier::trainer {

// train.txt, test.txt, and second.txt where a second text is to be mixed in: for networks that tell the next byte.
std::optional<DataFiles> FindText(const std::filesystem::path& folder);

// train/CLASS.txt and test/CLASS.txt: a sample a line, for networks that tell its class. The classes are the files in
// train/, in the order of their names. Lines end with \n or \r\n; empty ones are left out.
std::optional<DataFiles> FindLabeledLines(const std::filesystem::path& folder);

}  // namespace espalier::trainer
