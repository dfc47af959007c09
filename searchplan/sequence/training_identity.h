// What decides a training's bits besides the sequences.
#pragma once

#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/units.h"
#include "searchplan/sequence/value.h"

namespace espalier {

// The digest of data of which nobody knows what it is.
inline constexpr std::string_view kUnknownData = "unknown";

struct TrainingIdentity {
  std::string trainer;      // as study files name it
  std::string code_digest;  // of the code; built-in trainers declare a version, so that rebuilding keeps sharing
  std::string data;         // as study files name it; empty: the trainer brings its own
  std::string data_digest;  // of the training data
  StepMeaning step;
  Schema schema;
  friend bool operator==(const TrainingIdentity&, const TrainingIdentity&) = default;
};

// Each is unambiguous over all fields, and frozen by a golden test.
Digest128 DigestOf(const Schema& schema);
Digest128 DigestOf(const TrainingIdentity& training);
// Of all but the meaning of a step: what a server must offer, exactly, to train it.
Digest128 TrainerDigest(const TrainingIdentity& training);

}  // namespace espalier
