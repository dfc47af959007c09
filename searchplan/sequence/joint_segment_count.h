// What a batch of trials is measured by: its joint segments, which are what entering it costs. Counted from the trials'
// text alone, without their trainer's schema: by clients, who cut what is too large for one batch, and by the master's
// front door, which refuses what was not cut.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace espalier {

// Joint segments of the new trials of one batch, unless it is a single trial. Nobody's batch shall hold up everybody
// else for long. Cuts follow from it, and requests are known by their place in a cut (docs/decisions/0003): never to be
// changed while a study lasts.
inline constexpr std::size_t kBatchSegmentsMax = 20'000;

// Counts trials one after the other. Remembers texts, since trials of one study share most of theirs. Not thread-safe.
class JointSegmentCounter {
 public:
  // Of a trial with these sequences up to `horizon`, as ResolveTrial would cut it; 1 more than kBatchSegmentsMax if it
  // has more. A text that means nothing has one segment: the master refuses it for what it is. O(text + segments) for a
  // text that is new, and O(break points of the trial) otherwise.
  std::size_t Count(const std::map<std::string, std::string>& sequences, Step horizon);

 private:
  // Where the text's segments start, behind step 0; only that there are more than kBatchSegmentsMax if there are.
  const std::vector<Step>& BreakPointsOf(const std::string& text, Step horizon);

  std::map<std::pair<std::string, Step>, std::vector<Step>> break_points_;
  std::size_t remembered_ = 0;  // break points
};

}  // namespace espalier
