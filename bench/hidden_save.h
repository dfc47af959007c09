// How much of a save is hidden by the training that goes on beside it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/figures.h"

namespace espalier::bench {

struct SavedTraining {
  std::int64_t updates = 1;  // a step, of which a save takes a few
  std::int64_t hidden = 0;   // how wide the network is, and so how large its state
  std::int64_t turns = 1;
};

// Leads a worker of the command, which offers a wide network (subjects.h). Adds NAME_save_seconds, of a save alone, and
// NAME_save_hidden_percent: how much of that the steps that are trained beside a save do not take longer. Steps vary by
// more than what is asked for, and drift: so they are short against a save, and those beside it, three at least, are
// compared with three dozen before and after them; medians are taken over the turns.
void MeasureHiding(Figures& figures, const std::string& name, const std::vector<std::string>& command,
                   const SavedTraining& training);

}  // namespace espalier::bench
