// What a run's worker prints: standard output and error, as node managers send it on to the master beside their
// reports. Nothing depends on it, and it may be lost: what is decided, and whether, never waits for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/point.h"
#include "base/units.h"

namespace espalier {

// What was printed on the way to one step, or to several up to it.
struct OutputPiece {
  Step step;                  // Step{0}: before the run's first step, or by a run that trains none
  std::int64_t position = 0;  // in all that the run has printed, in bytes: what lies between two pieces was left out
  std::string text;           // UTF-8, not empty
  friend bool operator==(const OutputPiece&, const OutputPiece&) = default;
};

// In order of position, without overlap.
struct RunOutput {
  RunKey run;
  std::string incarnation;  // of the node manager that has the run
  std::vector<OutputPiece> pieces;
  friend bool operator==(const RunOutput&, const RunOutput&) = default;
};

// Of one RunOutput, all texts together; and its pieces.
inline constexpr std::size_t kOutputBytesMax = std::size_t{192} << 10;
inline constexpr std::size_t kOutputPiecesMax = 32;

}  // namespace espalier
