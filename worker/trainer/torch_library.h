// Trainers in a shared library of the user's own: docs/trainers.md, "Trainers of your own in C++". The library is built
// with this repository's headers and the LibTorch that the worker has, and names what it offers in one file:
//
//   ESPALIER_TRAINERS(MyTrainers)
//
// with a function of the type TrainersOver: each of its trainers with each data
// set that it takes. Code digests are not needed: the library's content is part of each.
#pragma once

#include <torch/version.h>

#include <vector>

#include "worker/trainer/data/data_source.h"
#include "worker/trainer/trainer.h"

namespace espalier::trainer {

using TrainersOver = std::vector<TrainerKind>(const std::vector<DataSource>& data);

}  // namespace espalier::trainer

// What must be the same in the worker and in the library: these headers, the compiler's C++, LibTorch. The number is
// raised when what the headers say changes.
#define ESPALIER_TRAINER_INTERFACE \
  "espalier trainers 2, C++ ABI " ESPALIER_TEXT_OF(__GXX_ABI_VERSION) ", LibTorch " TORCH_VERSION
#define ESPALIER_TEXT_OF(macro) ESPALIER_TEXT_OF_INNER(macro)
#define ESPALIER_TEXT_OF_INNER(text) #text

#define ESPALIER_TRAINERS(function)                                                \
  extern "C" const char espalier_trainer_interface[];                              \
  extern "C" const char espalier_trainer_interface[] = ESPALIER_TRAINER_INTERFACE; \
  extern "C" ::espalier::trainer::TrainersOver* const espalier_trainers;           \
  extern "C" ::espalier::trainer::TrainersOver* const espalier_trainers = function;
