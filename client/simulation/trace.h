// Traces: what studies of a real service were, what became of them, and what everything took, for the simulator to
// replay. A file of JSON lines (docs/traces.md): times are in seconds since the first of the studies came. Whoever
// writes one (`espalier study export --trace`) holds one study at a time; who reads one holds all of it. Pure.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/claim_state.h"
#include "base/metrics.h"
#include "base/study_choices.h"
#include "base/units.h"
#include "client/study_file/study_file.h"
#include "searchplan/plan/measurement.h"

namespace espalier {

// Of the format.
inline constexpr std::int64_t kTraceVersion = 1;

// A trial asked for its metric.
struct TracedClaim {
  Step step;
  Seconds made{0};
  std::optional<Seconds> settled{};
  ClaimState state = ClaimState::kWaiting;
};

// Steps of a trial under one plan node: from the node before, or from Init, to `until`.
struct TracedStretch {
  std::int64_t node = 0;
  Step until;
};

struct TracedTrial {
  std::int64_t id = 0;
  std::map<std::string, std::string> sequences;  // as submitted
  Step horizon;
  Seconds submitted{0};
  std::optional<Seconds> closed{};
  bool cancelled = false;
  std::vector<TracedStretch> lineage;  // to the horizon
  std::vector<TracedClaim> claims;     // in order of time
  std::map<Step, Metrics> metrics;     // all that was measured on its lineage
};

// What training under a plan node took, of one unit each.
struct TracedNode {
  std::int64_t id = 0;
  bool trained = false;  // some of it; else these are the service's estimates
  std::map<CostKind, Seconds> costs;
};

// What slots were held for.
struct TracedRun {
  std::int64_t id = 0;
  std::string server;
  int slot = 0;
  int slots = 1;
  TracedStretch from;  // where its path begins
  TracedStretch to;    // and ends
  Seconds held_from{0};
  Seconds held_until{0};
  Seconds charged{0};  // to this study, of its device time
};

struct TracedStudy {
  std::int64_t id = 0;
  std::string name;
  std::string definition;  // a study file in JSON, or what else its client made of it
  bool has_tuner = false;  // a built-in one; else its trials were asked for from outside
  std::string trainer;
  std::string metric;
  Goal goal = Goal::kMaximize;
  Scope scope = Scope::kTeam;
  Seconds arrived{0};
  Seconds ended{0};
  bool cancelled = false;  // by its user
  Seconds device_time{0};  // as charged to it
  std::int64_t claimed_steps = 0;
  std::int64_t unique_steps = 0;
  std::int64_t trained_steps = 0;
  std::int64_t reused_steps = 0;  // of the unique ones: trained before, by others
  std::vector<TracedNode> nodes;
  std::vector<TracedTrial> trials;  // as submitted
  std::vector<TracedRun> runs;      // in the order in which they were given to servers
};

struct TracedServer {
  std::string name;
  int slots = 1;
  std::optional<Seconds> gone{};  // when its last run of these studies ended, if it was not there any more
};

struct TraceHead {
  std::string began;   // when the first study came, by the wall clock: "2026-11-26T17:25:03Z"
  std::string policy;  // by which the service gave work to slots
};

struct Trace {
  TraceHead head;
  std::vector<TracedServer> servers;
  std::vector<TracedStudy> studies;
};

// The lines of a file: of the head, which comes first, of servers, of studies.
void WriteTrace(std::ostream& out, const TraceHead& head);
void WriteTrace(std::ostream& out, const TracedServer& server);
void WriteTrace(std::ostream& out, const TracedStudy& study);

// Error: the line and field of what is wrong, or what is not there: a head, a server, a study, a node that lineages
// name.
tl::expected<Trace, FileError> ParseTrace(const std::string& path, const std::string& text);
tl::expected<Trace, FileError> ReadTraceFile(const std::string& path);

}  // namespace espalier
