// A node of a search plan, and what is known under it. A plan may have millions: a node is kept small.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/metrics.h"
#include "base/point.h"
#include "base/result.h"
#include "searchplan/plan/measurement.h"
#include "searchplan/plan/sparse.h"
#include "searchplan/sequence/configuration.h"

namespace espalier {

struct Checkpoint {
  std::string file;  // name within the checkpoint store
  std::int64_t bytes = 0;
  RunId run;
  Time stored_at{};
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// Of a point's state. Stays when the checkpoint is evicted.
struct StateDigest {
  std::string sha256;
  bool disputed = false;  // trained again, it came out otherwise: this is the later one
  friend bool operator==(const StateDigest&, const StateDigest&) = default;
};

// Why training does not reach a point. Final until the stage is retried, which the first two, being results, are not.
struct Failure {
  enum class Kind {
    kDiverged,
    kFinished,  // the trainer ended its training at the step before: that one's metrics are the answer from here on
    kTrainer,
    kOutOfMemory,
    kCrash,
  };
  Kind kind = Kind::kTrainer;
  std::string message;
  friend bool operator==(const Failure&, const Failure&) = default;
};

inline bool IsResult(const Failure& failure) {
  return failure.kind == Failure::Kind::kDiverged || failure.kind == Failure::Kind::kFinished;
}

std::string_view Name(Failure::Kind kind);
Result<Failure::Kind> ParseFailureKind(std::string_view name);

// What was tried in vain from a checkpoint (design section 7). Kept with the node of the step that failed, by the last
// checkpoint before that step: a checkpoint stored nearer to it begins a new count, nothing else does.
struct AttemptKey {
  Step from;               // the checkpoint; Step{0}: Init
  std::string evaluation;  // of an evaluation at `from`; empty: training
  friend auto operator<=>(const AttemptKey&, const AttemptKey&) = default;
};
// What training takes of one device, since it was out of memory with less: of its memory, where it is known how much a
// device has; else of its compute, in thousandths, for the memory that goes along.
struct Demand {
  int compute = 0;                // more than 1000: more than a whole device; 0: a slot will do
  std::int64_t memory_bytes = 0;  // 0: not known
  friend auto operator<=>(const Demand&, const Demand&) = default;
};
// The least that both are content with.
Demand Larger(const Demand& a, const Demand& b);

struct Attempts {
  std::int64_t crashes = 0;   // and hangs
  std::int64_t kills = 0;     // by a SIGKILL that neither a node manager nor a memory limit sent
  std::int64_t unusable = 0;  // workers that could do nothing any more, as they said; all but one count as crashes, too
  std::set<std::string> lost_servers;
  Step earliest;                  // of the steps that failed
  std::set<std::string> servers;  // on which it crashed
  Point begun_at;                 // the first stage of the last run that failed so: its node, and the step it starts at
  Time not_before{};              // until then that stage is not ordered
  std::string log;                // the last lines of the last one
  Demand demand = {};
  friend bool operator==(const Attempts&, const Attempts&) = default;
};

// Steps (from, to] of a node that one run trained, by the worker's own step log; contiguous.
struct TrainedRange {
  RunId run;
  Step from;
  Step to;
  Seconds seconds{0};
  friend bool operator==(const TrainedRange&, const TrainedRange&) = default;
};

// What is known under a node. Evaluation identities are named by their digests.
struct NodeResults {
  std::map<Step, Checkpoint> checkpoints;
  std::map<Step, StateDigest> state_digests;
  std::map<Step, std::map<std::string, Metrics>> metrics;  // by evaluation
  std::map<Step, Failure> failures;
  std::map<Step, std::map<std::string, std::string>> evaluation_failures;  // by evaluation: why it failed for good
  std::map<AttemptKey, Attempts> attempts;
  std::vector<TrainedRange> trained;  // at most one a run, in order of arrival
  std::map<CostKind, Measurement> measurements;

  bool empty() const {
    return checkpoints.empty() && state_digests.empty() && metrics.empty() && failures.empty() &&
           evaluation_failures.empty() && attempts.empty() && trained.empty() && measurements.empty();
  }
  friend bool operator==(const NodeResults&, const NodeResults&) = default;
};

struct PlanNode {
  PlanNodeId id;
  std::optional<PlanNodeId> parent;
  Step start;
  PackedConfiguration configuration;
  Digest128
      lineage;  // of the plan's identity, its origin if it has one, and the configurations from the root to this node
  std::vector<PlanNodeId> children;  // by id
  StudyId caused_by;                 // whose trial entered it
  Sparse<NodeResults> results;
  friend bool operator==(const PlanNode&, const PlanNode&) = default;
};

// What was measured of the kind under the node; count 0: nothing.
inline Measurement MeasurementOf(const PlanNode& node, CostKind kind) {
  const auto measured = node.results->measurements.find(kind);
  return measured == node.results->measurements.end() ? Measurement{} : measured->second;
}

}  // namespace espalier
