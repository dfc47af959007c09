// What is said of the sequences of a forecast's trials: near misses, which surely are meant to be one sequence and are
// trained apart because of rounding, and early partings, which would share if they were written another way.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "master/core/calls/new_trial.h"
#include "searchplan/sequence/early_parting.h"
#include "searchplan/sequence/near_miss.h"

namespace espalier::master {

// Two sequences, as submitted, that differ by rounding only up to `near_miss.to`.
struct SequencePair {
  std::string hyper_parameter;
  std::string first;
  std::string second;
  NearMiss near_miss;
  Step horizon;  // of the shorter one
};

// Sequences, as submitted, that part early; `parting` by their places here.
struct PartingSequences {
  std::string hyper_parameter;
  std::vector<std::string> texts;
  EarlyParting parting;
};

struct SequenceHints {
  std::vector<SequencePair> near_misses;
  std::vector<PartingSequences> early_partings;
};

class SequenceCollector {
 public:
  // Texts that parse and compile under the study, as Resolve has seen to.
  void Add(const Study& study, const ResolvedTrial& trial);

  // Of hyper-parameters of one training, by name; among all studies that were added.
  SequenceHints Find() const;

 private:
  using Texts = std::map<std::string, Step>;  // each with the longest horizon that it was given
  struct Subject {
    ValueType type = ValueType::kFloating;
    Texts texts;
  };
  std::map<std::pair<Digest128, std::string>, Subject> subjects_;  // by training and name
};

}  // namespace espalier::master
