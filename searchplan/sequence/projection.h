// A trial's sequences as another trainer would have them: what decides where two trainings of different code coincide.
#pragma once

#include <vector>

#include "searchplan/sequence/configuration.h"
#include "searchplan/sequence/value.h"

namespace espalier {

// `segments`, which are of `from`, as joint segments of `onto`: by name, each hyper-parameter of `onto` keeps its
// functions bit for bit; where `from` names none, it is neutral; those that `onto` does not know are left out. Segments
// that differ by nothing else are joined. O(segments x hyper-parameters).
std::vector<JointSegment> Projected(const std::vector<JointSegment>& segments, const Schema& from, const Schema& onto);

}  // namespace espalier
