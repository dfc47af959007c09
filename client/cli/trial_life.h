// What became of one trial, in the order of time: what it asked for and was answered, and which runs trained on its
// way.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "client/connection.h"

namespace espalier {

// Steps (from, to] of the trial's way; the same: a state was evaluated there.
struct Stretch {
  std::int64_t from = 0;
  std::int64_t to = 0;
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

struct LifeMoment {
  double at = 0;          // seconds since 1970
  std::string what;       // "submitted", "asked", "answered", "failed", "cancelled", "closed", "run"
  std::int64_t step = 0;  // of a claim; 0: none
  std::string text{};     // metrics, or why
  std::optional<v1::ListedRun> run = std::nullopt;  // of a run
  std::optional<Stretch> trained = std::nullopt;    // by it, on the trial's way
};

struct TrialLife {
  v1::Trial trial;
  std::int64_t study_id = 0;
  std::vector<LifeMoment> moments;                // by time
  std::optional<v1::ExplainStageResponse> waits;  // at its first claim that is not answered yet
};

using NodesById = std::map<std::int64_t, v1::PlanNode>;

// Which part of the run lies on the way that these are; none: nothing. `nodes`: of their plan. O(way + the run's path).
std::optional<Stretch> StretchOn(const std::vector<v1::LineagePart>& way, const NodesById& nodes,
                                 const v1::ListedRun& run);

// Reads the study's events, runs and plan: costs what the study holds. Error: the master's.
Result<TrialLife> ReadTrialLife(Connection& connection, TrialId trial);

}  // namespace espalier
