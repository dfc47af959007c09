// Batches of lines of text with a label each: each epoch takes all of them, in an order of its own. Hyper-parameter, a
// sequence: length, the tokens a line has at most, the first of which is that of the beginning; longer lines are cut,
// shorter ones padded to the longest of their batch.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/data/file_bytes.h"

namespace espalier::trainer {

struct LabeledLine {
  std::string_view text;  // in one of the files
  std::int64_t label = 0;
};

struct LabeledLines {
  std::vector<LabeledLine> training;
  std::vector<LabeledLine> validation;
  std::int64_t class_count = 0;
  std::vector<std::shared_ptr<const FileBytes>> files;
};

std::vector<DeclaredHyperParameter> DeclareLines();

// At the beginning of epoch 0. REQUIRES: there are lines to train on.
std::unique_ptr<Batches> MakeLineBatches(std::shared_ptr<const LabeledLines> lines, std::uint64_t seed);

}  // namespace espalier::trainer
