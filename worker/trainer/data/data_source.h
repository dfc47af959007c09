// What a study names as its data: known by digests before anything of it is loaded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "worker/trainer/trainer.h"

namespace espalier::trainer {

// Of data/batches.h, which includes LibTorch's headers.
class Batches;

enum class DataKind {
  kTable,         // numbers: inputs are float32 vectors
  kImages,        // inputs are float32, channels x height x width
  kText,          // inputs are int64 tokens; the label of each place is the token behind it
  kLabeledLines,  // inputs are int64 tokens, the first that of the beginning, padded to one length; a label a line
};

struct DataSource {
  // As study files give it.
  std::string name;
  DataKind kind = DataKind::kTable;
  // SHA-256 of what is trained on, and of what is evaluated on.
  std::string training_digest;
  std::string validation_digest;
  // Of the data itself, all sequences: how samples are changed on their way. Sorted by name.
  std::vector<DeclaredHyperParameter> hyper_parameters;
  // Batches from the beginning of epoch 0, in an order that follows from the seed. The data is loaded by the first call
  // and kept for the life of the process. Throws std::runtime_error if it is malformed.
  std::function<std::unique_ptr<Batches>(std::uint64_t seed)> open;
};

}  // namespace espalier::trainer
