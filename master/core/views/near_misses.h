// Near misses among the trials of a forecast: sequences that surely are meant to be one, and are trained apart because
// of rounding.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "master/core/calls/new_trial.h"
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

class NearMissCollector {
 public:
  // Texts that parse and compile under the study, as Resolve has seen to.
  void Add(const Study& study, const ResolvedTrial& trial);

  // Of hyper-parameters of one training, by name; among all studies that were added.
  std::vector<SequencePair> Find() const;

 private:
  using Texts = std::map<std::string, Step>;  // each with the longest horizon that it was given
  struct Subject {
    ValueType type = ValueType::kFloating;
    Texts texts;
  };
  std::map<std::pair<Digest128, std::string>, Subject> subjects_;  // by training and name
};

}  // namespace espalier::master
