// Batches of a text, each place's label the token behind it. Hyper-parameters, all sequences: length (tokens a sample),
// and mix, where there is a second text (the share of samples that come from it, drawn for each by its place in the
// epoch). An epoch takes as many tokens as the first text has, from whichever.
#pragma once

#include <memory>
#include <vector>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/data/file_bytes.h"

namespace espalier::trainer {

// Each of at least two tokens.
struct Texts {
  std::shared_ptr<const FileBytes> first;
  std::shared_ptr<const FileBytes> second;  // null: there is none
  std::shared_ptr<const FileBytes> validation;
};

std::vector<DeclaredHyperParameter> DeclareText(bool has_second);

// At the beginning of epoch 0.
std::unique_ptr<Batches> MakeTextBatches(const Texts& texts, std::uint64_t seed);

}  // namespace espalier::trainer
