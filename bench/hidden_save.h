// How much of a save is hidden by the training that goes on beside it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/figures.h"

namespace espalier::bench {

struct SavedTraining {
  std::int64_t updates = 1;  // a step
  std::int64_t hidden = 0;   // how wide the network is, and so how large its state
  std::int64_t turns = 1;
};

// Leads a worker of the command, which offers a wide network (subjects.h). Adds NAME_save_seconds, of a save alone, and
// NAME_save_hidden_percent: a save beside three steps, against the steps and the save one after another. Steps vary by
// more than what is asked for, and drift: each three are compared with those before and after them, and medians are
// taken over many turns.
void MeasureHiding(Figures& figures, const std::string& name, const std::vector<std::string>& command,
                   const SavedTraining& training);

}  // namespace espalier::bench
