// A network of the user's own, exported from Python: a TorchScript module (torch.jit.script(...).save(FILE)), which
// takes a batch of the data's inputs and returns a row of numbers, one a class, for each label. It begins with the
// weights that the file has. Hyper-parameters, besides those of every classifier: loss ("cross_entropy", "nll",
// "multi_margin" or "one_hot_mse"). Metrics, besides those of every classifier: test_top5, the share of labels among
// the five classes that are thought likeliest.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "worker/trainer/models/classifier.h"

namespace espalier::trainer {

// `name`: the trainer's. `digest`: of the file's content, which is the trainer's version. The file is read at each
// Init.
NetworkKind TorchScript(const std::string& name, const std::filesystem::path& file, const std::string& digest);

}  // namespace espalier::trainer
