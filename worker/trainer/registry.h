// The trainers that a worker offers: those that are compiled into it, and those of files that it is given.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/trainer/trainer.h"

namespace espalier::trainer {

// What a worker is to offer.
struct TrainerChoice {
  // By name; FILE.pt: a TorchScript module, named as the file; FILE.so: a library of trainers. None: all that are built
  // in and take the data.
  std::vector<std::string> trainers;
  std::vector<std::string> data;  // as study files give it: "digits", or a folder; none: what is built in
  std::string digest_memory;      // a file in which digests of data are remembered; empty: none
  std::size_t prefetch = 0;       // batches that are fetched ahead of use (data/prefetch.h)
};

// Each chosen trainer with each data set that it takes, sorted by (name, data). A new trainer is a file in models/ and
// a line in registry.cc. Nothing is loaded, but files of data are digested. Error: kInvalidArgument, naming the field:
// an unknown trainer, two of one name, a file that cannot be read or loaded, data that is not there or of no known
// form, or that the trainer does not take.
Result<std::vector<TrainerKind>> ChooseTrainers(const TrainerChoice& choice);

}  // namespace espalier::trainer
