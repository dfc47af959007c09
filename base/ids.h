// Identifiers as types of their own, so that one kind cannot be passed where another is meant.
// Every id is a positive number given once by the master and never used again; 0 means "none yet".
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace espalier {

template <class Tag>
struct Id {
  std::int64_t value = 0;
  friend auto operator<=>(const Id&, const Id&) = default;
};

using StudyId = Id<struct StudyTag>;
using TrialId = Id<struct TrialTag>;
using ClaimId = Id<struct ClaimTag>;
using PlanId = Id<struct PlanTag>;
using PlanNodeId = Id<struct PlanNodeTag>;
using RunId = Id<struct RunTag>;
using PromiseId = Id<struct PromiseTag>;

// A leadership: the time for which one master leads. Random, so that ids given out under a leadership that the database
// has forgotten (it was restored from a backup) are not taken for others.
using LeadershipId = Id<struct LeadershipTag>;

// A run, wherever it is spoken of outside one master.
struct RunKey {
  LeadershipId leadership;
  RunId run;
  friend auto operator<=>(const RunKey&, const RunKey&) = default;
};

}  // namespace espalier

template <class Tag>
struct std::hash<espalier::Id<Tag>> {
  std::size_t operator()(const espalier::Id<Tag>& id) const { return std::hash<std::int64_t>{}(id.value); }
};
