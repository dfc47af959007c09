// Data in a folder, of a form that is told by the names of its files (docs/trainers.md lists them): data sets as their
// authors give them away, tables, texts, pictures.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "worker/trainer/data/data_source.h"
#include "worker/trainer/data/file_digests.h"

namespace espalier::trainer {

// `name`: as study files give it. Nothing but digests is read before the source is opened. Error: kInvalidArgument:
// there is no such folder, it holds no form of data, or a file cannot be read.
Result<DataSource> FindDataFolder(const std::string& name, const std::filesystem::path& folder, FileDigests& digests);

}  // namespace espalier::trainer
