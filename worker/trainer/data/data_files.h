// The files of a data set that were found in a folder, and how to read them: what each form of data gives
// data_folder.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/trainer/data/classification.h"
#include "worker/trainer/data/data_source.h"

namespace espalier::trainer {

using Paths = std::vector<std::filesystem::path>;

// Batches from the beginning of epoch 0, in an order that follows from the seed.
using OpenBatches = std::function<std::unique_ptr<Batches>(std::uint64_t seed)>;

struct DataFiles {
  DataKind kind = DataKind::kTable;
  // Raised when what a network is given for the same files changes.
  std::string version;
  // Each kind of data digests its own: in this order, by their paths within the folder and their content.
  Paths training;
  Paths validation;
  std::vector<DeclaredHyperParameter> hyper_parameters;  // sorted by name
  // Reads them. Error: kInvalidArgument: one is malformed; the message names the file, the place and what is expected.
  std::function<Result<OpenBatches>()> read;
};

// A form of data: looks whether a folder holds it. Nothing: it does not. Reads no file.
using FindForm = std::optional<DataFiles> (*)(const std::filesystem::path& folder);

// "FILE: WHAT", and "FILE:LINE: WHAT", counted from 1.
tl::unexpected<Error> Malformed(const std::filesystem::path& file, const std::string& what);
tl::unexpected<Error> Malformed(const std::filesystem::path& file, std::int64_t line, const std::string& what);

// The file of that name, packed (.gz) or not; an empty path if there is none.
std::filesystem::path FindFile(const std::filesystem::path& folder, const std::string& name);

// Batches of such samples, standardised. Error: kInvalidArgument, naming `validation_file`: samples of another form
// than those for training.
Result<OpenBatches> ToBatches(LabeledSamples training, LabeledSamples validation, std::int64_t class_count,
                              const std::filesystem::path& validation_file);

}  // namespace espalier::trainer
