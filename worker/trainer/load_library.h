// Takes in trainers from a shared library of the user's own (worker/trainer/torch_library.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/trainer/data/data_source.h"
#include "worker/trainer/trainer.h"

namespace espalier::trainer {

// Runs the library's code. `digest`: of its content; added to each trainer's. The library stays loaded. Error:
// kInvalidArgument: it cannot be loaded, is none, or was built for another worker.
Result<std::vector<TrainerKind>> LoadLibrary(const std::filesystem::path& file, const std::string& digest,
                                             const std::vector<DataSource>& data);

}  // namespace espalier::trainer
