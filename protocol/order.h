// What the master wants of a node manager: runs, each with its path and what it owes on the way. Level-triggered: the
// whole of what should be is said again whenever something changes; the newest counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/point.h"
#include "protocol/device.h"
#include "protocol/offer.h"
#include "searchplan/sequence/configuration.h"

namespace espalier {

// What a run owes at a point of its path.
enum class Owed {
  kMetrics,  // of the run's evaluation identity, reported as soon as they are measured
  kState,    // stored as a checkpoint
};
std::string_view Name(Owed owed);
Result<Owed> ParseOwed(std::string_view name);

// What waits for a state, the most needed first: in this order states go into the store. It may change without a new
// generation of the order; what a node manager knows then is a little old.
enum class Need {
  kClaim,     // a claim waits at this very point: a tuner, as a rule, for its trial's result
  kBranch,    // other training is to start from it
  kOnTheWay,  // nothing yet: kept, as the run passes, for open trials or for a fault
};

// A promise as the node manager is told of it.
struct OrderedPromise {
  PromiseId id;
  Step step;
  Owed owed = Owed::kState;
  Need need = Need::kOnTheWay;  // of a state
  friend bool operator==(const OrderedPromise&, const OrderedPromise&) = default;
};

// A stage of the path with all that training it needs.
struct OrderedStage {
  PathStage stage;
  PackedConfiguration configuration;
  Digest128 lineage;  // of the plan's identity, what it begins with, and the configurations from the root to this node
  friend bool operator==(const OrderedStage&, const OrderedStage&) = default;
};

// The checkpoint that a run starts from.
struct OrderedStart {
  Point point;
  std::string file;                   // name within the checkpoint store
  std::string state_sha256;           // that the file must hold
  PackedConfiguration configuration;  // in force at point.step - 1
  Digest128 lineage;
  PackedConfiguration root;    // of the lineage's first plan node: in force at step 0, with which every training begins
  bool of_other_code = false;  // which left the state, and which this training goes on from as it is
  friend bool operator==(const OrderedStart&, const OrderedStart&) = default;
};

// A request that takes longer is a hang. None: never measured, so nobody can tell.
struct TimeLimits {
  std::optional<Seconds> set_up;  // Init and Setup
  std::optional<Seconds> load;
  std::optional<Seconds> train;  // one step
  std::optional<Seconds> evaluate;
  std::optional<Seconds> save;
  friend bool operator==(const TimeLimits&, const TimeLimits&) = default;
};

// The part of an order that later generations change.
struct OrderTerms {
  std::int64_t generation = 0;               // counts up with each change
  std::vector<OrderedPromise> promises;      // open ones, by step; the furthest is the run's end
  bool preempt = false;                      // save at the next step's end, and end there
  std::vector<std::int64_t> evaluate_every;  // steps, >= 1: metrics are wanted at their multiples, as the run passes
  std::vector<Step> barred_evaluations;      // where this evaluation failed for good: it is not asked there again
  Seconds save_every{0};                     // a state is kept when so much time went by since the last; 0: never
  TimeLimits limits;
  friend bool operator==(const OrderTerms&, const OrderTerms&) = default;
};

struct Order {
  RunKey run;
  int slot = 0;             // of the reserved device: the first, if it takes several
  Reservation reservation;  // that a server refuses if it does not have it
  PlanId plan;
  Offer offer;  // by which the run is trained and evaluated; a server that does not have exactly it refuses the order
  StepMeaning step;
  std::optional<OrderedStart> start;  // none: from Init
  std::vector<OrderedStage> path;     // joined end to end; empty: the start's state is evaluated
  OrderTerms terms;
};

// A trainer reference that a server is to describe, and to train by as long as it is wanted.
struct WantedReference {
  Digest128 reference;
  std::int64_t asked = 0;  // changes when somebody asks anew: what was refused is tried again
  friend bool operator==(const WantedReference&, const WantedReference&) = default;
};

// A trainer that a server is to check, as docs/trainer_check.md says, on a slot that is given no run meanwhile.
struct WantedCheck {
  int slot = 0;
  Reservation reservation;
  Offer offer;
  StepMeaning step;
  PackedConfiguration root;  // in force at step 0
  Seconds limit{0};          // after which it is given up, > 0
  friend bool operator==(const WantedCheck&, const WantedCheck&) = default;
};

// All that a server should be doing, and what the master knows of its reports.
struct ServerOrders {
  std::vector<Order> orders;
  std::int64_t acknowledged_report = 0;       // reports up to this number are durable
  std::vector<std::string> superseded_files;  // of the store: nobody needs them any more
  std::vector<WantedReference> references = {};
  bool draining = false;  // it will be given no other run, until this is said no more: idle workers are of no use
  std::vector<WantedCheck> checks = {};
  std::string refused = {};  // not empty: why this node manager is not taken; then nothing else counts
};

}  // namespace espalier
