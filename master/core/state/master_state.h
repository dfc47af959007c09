// All that the master knows. Owned by the event loop; changes only by Apply (master/core/state/state_edit.h).
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "master/core/state/going_on.h"
#include "master/core/state/policy_choice.h"
#include "master/core/state/quota.h"
#include "master/core/state/retired_study.h"
#include "master/core/state/room_wanted.h"
#include "master/core/state/run.h"
#include "master/core/state/step_ledger.h"
#include "master/core/state/study.h"
#include "master/core/state/trainer_check.h"
#include "master/core/state/trial_index.h"
#include "master/core/state/tuner_turn.h"
#include "master/core/state/user.h"
#include "master/core/state/user_code.h"
#include "protocol/offer.h"
#include "protocol/order.h"
#include "protocol/trainer_reference.h"
#include "scheduler/checkpoint_cache.h"
#include "scheduler/cost_sums.h"
#include "scheduler/fair_share.h"
#include "scheduler/need_index.h"
#include "scheduler/server_room.h"
#include "searchplan/plan/search_plan.h"

namespace espalier::master {

// An offer that some server registered once. Kept for good: studies are created from it, and plans carry its identity.
struct KnownOffer {
  Offer offer;
  Time first_seen{};   // of offers of one trainer and data, the one first seen last is the newest
  bool listed = true;  // some server had it of its own: who names the trainer gets it. Else it came of references alone
  friend bool operator==(const KnownOffer&, const KnownOffer&) = default;
};

// A stream to a node manager. Never used again.
using SessionId = Id<struct SessionTag>;

struct OfferMade {
  Digest128 offer;  // DigestOf
  std::string device_kind;
  friend bool operator==(const OfferMade&, const OfferMade&) = default;
};

// What a server has made of a reference.
struct ReferenceOnServer {
  std::set<Digest128> offers;  // DigestOf; empty: refused
  std::string refused;         // why
  std::int64_t asked = 0;      // as the server was told when it was refused
  friend bool operator==(const ReferenceOnServer&, const ReferenceOnServer&) = default;
};

// A server whose node manager is connected, or was and whose lease has not ended. Not stored.
struct Server {
  std::string name;
  std::string incarnation;
  std::vector<Device> devices = {};       // of one incarnation always the same
  int host_cores = 0;                     // 0: not known
  std::int64_t host_memory_bytes = 0;     // likewise
  std::string version;                    // of its node manager; empty: not known
  Seconds clock_ahead{0};                 // of the master's, when it last registered
  std::map<Digest128, OfferMade> offers;  // by TrainerDigest
  std::optional<SessionId> session;       // none: disconnected
  Moment last_seen{};                     // when its last message arrived
  std::int64_t acknowledged_report = 0;   // reports up to this number are applied
  bool stopping = false;                  // its node manager is being stopped
  std::string trouble;                    // what keeps its checkpoints from the store; empty: nothing
  std::map<Digest128, ReferenceOnServer> references = {};

  int slot_count() const { return SlotCountOf(devices); }
  friend bool operator==(const Server&, const Server&) = default;
};

// An administrator takes a server out of service, until he says otherwise.
struct Drain {
  std::string by;
  std::string why;  // in his words; empty: he did not say
  Time since{};
  friend bool operator==(const Drain&, const Drain&) = default;
};

// What a mutation was answered, so that it can be answered the same again.
struct AnsweredRequest {
  Digest128 content;
  std::vector<std::int64_t> ids;  // that it produced
  Time at{};
  friend bool operator==(const AnsweredRequest&, const AnsweredRequest&) = default;
};

// (study, request id); StudyId{0} for requests that create studies.
using RequestKey = std::pair<StudyId, std::string>;

// A stage that can be ordered, by where it begins; one that only evaluates, with the evaluation identity.
using StageBeginning = std::pair<Point, std::string>;

// Why a stage is not ordered for a while: something failed there. Several counts may pause one stage.
struct Pause {
  Time until{};       // Time::max(): held, until `stage retry`
  std::string avoid;  // it crashed on this server alone: not ordered there again if another offers what it needs
  PlanNodeId node;    // whose attempts these are
  AttemptKey key;
  friend bool operator==(const Pause&, const Pause&) = default;
  // The longest first.
  friend bool operator<(const Pause& a, const Pause& b) {
    return std::tie(b.until, a.node, a.key) < std::tie(a.until, b.node, b.key);
  }
};

// A node manager did not take orders for a stage, so often in a row: until then it is not ordered there again.
struct Refusal {
  std::int64_t count = 0;
  Time until{};
  std::string why;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

// A plan by the best of its paths that can be ordered now; the best first, of equals the smaller id.
struct RankedPlan {
  Rank rank;
  PlanId plan;
  friend bool operator<(const RankedPlan& a, const RankedPlan& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.plan < b.plan;
  }
};

// The next id of each kind; the largest in use plus one.
struct IdCounters {
  StudyId study{1};
  TrialId trial{1};
  ClaimId claim{1};
  PlanId plan{1};
  PlanNodeId plan_node{1};
  RunId run{1};
  PromiseId promise{1};
  friend bool operator==(const IdCounters&, const IdCounters&) = default;
};

// What a server must offer for something to be done there.
struct OfferKind {
  Digest128 trainer;  // TrainerDigest
  std::string device_kind;
  std::string evaluation;
  friend auto operator<=>(const OfferKind&, const OfferKind&) = default;
};

// Where open trials may go on from, on a plan node: the step, and the child for which their lineages leave the node
// there; none (0): they end there, or have their last claim there.
using OpenEnd = std::pair<Step, PlanNodeId>;

// Open trials at such an end.
struct OpenEnds {
  StudyTally parting;        // whose lineage leaves the plan node there, or ends there
  std::int64_t claimed = 0;  // whose last claim is there
};

// What runs have made of the state at a point.
struct StateUse {
  std::int64_t runs = 0;            // that started from it
  std::int64_t runs_under_way = 0;  // of those, that have not ended
  Time last{};                      // when the last of them was ordered
};

struct EstimatedNode {
  PlanId plan;
  PlanNodeId node;
  bool guessed = false;
};

// What is derived from the rest for speed alone. It compares equal: its oracles compare what it says.
struct Indexes {
  std::map<PlanId, NeedIndex> needs;
  std::unordered_map<PlanNodeId, std::vector<RunId>> passing;  // runs that train, by the nodes of their paths
  std::map<std::string, ServerRoom> rooms;                     // of all servers, by their names
  std::map<OfferKind, std::set<std::string>> idle_servers;     // connected, with idle slots; none is empty
  std::map<std::string, std::set<RunId>> active_runs;          // not ended, by server
  std::map<StudyId, std::set<RunId>> runs_of_study;            // that have served it, ended ones too; none is empty
  std::map<SessionId, std::string> server_of_session;
  StepLedger steps;
  std::map<StudyId, std::set<PlanId>> plans_of_study;  // that some trial of it is in
  // Plans with something that can be ordered, by what a server must offer for it: training by whatever evaluation, the
  // best first; and states that stand and are to be evaluated. None is empty.
  std::map<OfferKind, std::set<RankedPlan>> ready_plans;  // evaluation: empty
  std::map<PlanId, Rank> ready_rank;
  // Of each study for which something can be started, the plans in which it can, the best first; none is empty.
  std::map<StudyId, std::set<RankedPlan>> ready_for;
  std::map<std::pair<PlanId, StudyId>, Rank> ready_rank_for;
  std::set<PlanId> work_changed;  // plans of which NeedIndex::TakeWorkChanged has something
  FairShare fair_share;
  std::map<OfferKind, std::set<PlanId>> plans_to_evaluate;
  std::map<PlanId, std::set<std::string>> evaluations_wanted;  // that plans_to_evaluate has of a plan
  Ranking ranking = Ranking::kLongest;
  // Plan nodes at which training was out of memory, and what it takes since. None is empty.
  std::map<PlanId, std::map<PlanNodeId, Demand>> demands;
  // Where runs begin that lost the state for which they were preempted, and none has kept a state since.
  std::set<Point> preempted_in_vain;
  // Nodes whose steps are estimated, not measured: to be looked at again, in turn, as the cost model learns. And how
  // many of them were guessed, by plan, since no step of such a training had been measured; none is 0.
  std::deque<EstimatedNode> estimated;
  std::map<PlanId, std::int64_t> guessed;
  std::unordered_map<PlanNodeId, std::map<OpenEnd, OpenEnds>> open_ends;
  std::map<StudyId, GoingOn> going_on;
  std::map<TrialId, std::set<ClaimId>> states_claimed;   // claims of states alone that wait; none is empty
  std::map<TrialId, std::vector<ClaimId>> state_claims;  // all of states alone; none is empty
  std::map<ClaimId, Point> waits_elsewhere;              // than at its own point (WaitsAt)
  std::set<StudyId> timed_studies;                       // running ones whose stop rule has a limit of time
  std::set<StudyId> studies_that_may_stop;               // running ones
  std::set<StudyId> studies_with_deadline;               // likewise
  std::set<StudyId> tuned_studies;                       // that take batches of a built-in tuner
  std::map<OfferKind, std::set<StudyId>> tuners_to_ask;  // of running studies, if a slot is idle; evaluation: empty;
                                                         // none is empty
  std::map<Digest128, std::int64_t> references_in_use;   // by how many running studies; none is 0
  // Checks without a finding, by the running studies whose trainer it is; none is empty.
  std::map<CheckKey, std::set<StudyId>> checks_wanted;
  CheckpointCache cache;
  std::map<Party, CheckpointCache> limited_caches;  // of that, what counts for each party with a limit of stored bytes
  std::unordered_map<Point, StateUse> state_uses;
  std::map<RunId, Point> furthest_stored;  // by each run that has not ended
  // As studies ask (Keep), and for each running one whose trials begin with it; whether a state is there or not; none
  // is 0.
  std::unordered_map<Point, std::int64_t> kept;
  std::map<StudyId, std::map<Point, PlanId>> begun_with;  // states of others, by running studies whose trials begin so
  std::map<Point, std::set<std::pair<PlanId, Point>>> taken_over;  // by the state's own point: where plans begin with
                                                                   // its file; none is empty
  std::set<std::pair<Time, StudyId>> to_retire;                    // finished ones, by when their turn began to come
  std::optional<Retiring> retiring;
  std::set<std::pair<Time, std::string>> own_requests;  // of the study 0, by when they were answered
  std::set<StudyId> forgetting;               // retired ones of which memory still has trials, events, requests or runs
  std::map<RunId, Time> leaves_from;          // ended ones that served retired studies alone
  std::set<std::pair<Time, RunId>> to_leave;  // the same
  friend bool operator==(const Indexes&, const Indexes&) { return true; }
};

struct MasterState {
  // Compiled once: many files hold one, and each would compile them again.
  MasterState();
  ~MasterState();
  MasterState(const MasterState&);
  MasterState(MasterState&&) noexcept;
  MasterState& operator=(const MasterState&);
  MasterState& operator=(MasterState&&) noexcept;

  // Stored.
  std::map<Digest128, KnownOffer> offers;  // by DigestOf
  std::map<StudyId, Study> studies;
  std::map<StudyId, std::vector<StudyEvent>> events;  // of number i + 1 at index i
  std::map<StudyId, std::vector<Time>> event_times;   // when they happened, likewise
  std::map<TrialId, Trial> trials;
  std::map<PlanId, SearchPlan> plans;
  std::map<RunId, Run> runs;
  std::map<RequestKey, AnsweredRequest> requests;
  std::map<std::string, User> users;                 // by name; removed ones too
  std::map<std::string, Archive> archives;           // by SHA-256
  std::map<Digest128, TrainerReference> references;  // by DigestOf
  std::map<std::string, Drain> drains;               // by server, connected or not
  std::map<CheckKey, StoredFinding> check_findings;  // of trainers in users' own code
  PolicyChoice policy;
  std::map<std::string, double> team_weights;  // of teams whose weight was set
  std::map<Party, Quota> quotas;               // none is empty
  std::map<StudyId, RetiredStudy> retired;
  // Derived from the above by Apply.
  IdCounters next;
  std::map<Digest128, PlanId> plan_by_identity;
  std::map<StudyId, std::vector<TrialId>> trials_by_study;
  std::map<StudyId, std::int64_t> horizons;   // of all trials of the study together, in steps: 2^62 at most
  std::map<StudyId, TrialIndex> trial_index;  // by what the study's events say
  std::map<StudyId, TunerTurn> tuner_turns;   // the same
  std::map<ClaimId, PlanId> plan_by_claim;
  std::map<PlanId, std::set<TrialId>> open_trials;      // not closed, by plan
  std::set<RunId> active_runs;                          // not ended
  std::set<StudyId> running_studies;                    // not finished
  std::unordered_map<Point, std::int64_t> open_states;  // open promises of the state, by point
  std::map<StudyId, std::int64_t> states_awaited;    // open promises of states at points of its claims that may be done
  std::map<StageBeginning, std::set<Pause>> pauses;  // none is empty; each until its count changes, over or not
  std::map<std::pair<Digest128, std::string>, CostSums> costs;  // by SearchPlan::cost_key
  std::map<StudyId, std::int64_t> device_time;                  // charged, in microseconds
  std::map<StudyId, std::int64_t> shared_time;  // of that, by runs that were charged to others, too; none is 0
  std::map<Party, Usage> usage;                 // of those that have used something
  // Not stored.
  LeadershipId leadership;             // of this master
  std::map<Party, StoppedBy> stopped;  // who has come to a limit
  std::map<std::string, Server> servers;
  RoomWanted room_wanted;
  std::map<Digest128, Time> asked;                                    // references that somebody asks for, since when
  std::map<CheckKey, CheckPlace> checks;                              // under way
  std::set<std::pair<TrialId, Point>> analyses;                       // of curves up to a point, under way
  std::map<StageBeginning, std::map<std::string, Refusal>> refusals;  // by server, of its incarnation; none is empty
  Indexes index;
  Moment leases_from{};  // no lease has begun before: the state was loaded then, or the loop went on after a pause

  friend bool operator==(const MasterState&, const MasterState&);
};

// What keeps the stage longest from being ordered, over or not; null: nothing ever did. O(log pauses).
const Pause* LongestPause(const MasterState& state, const StageBeginning& beginning);

// What the server offers for such trainings: null if it does not train them on that device kind. O(log offers).
const OfferMade* OfferOf(const Server& server, Digest128 trainer, const std::string& device_kind);

// Whether the server is given no new run, whoever wants that: its node manager, which is being stopped, or an
// administrator. O(log drains).
bool IsDraining(const MasterState& state, const Server& server);

// Memory may lack its trials, claims, events, answered requests and runs. O(log retired studies).
inline bool IsRetired(const MasterState& state, StudyId study) { return state.retired.contains(study); }

// Of the team, among all: 1 unless it was set. O(log).
double WeightOf(const MasterState& state, const std::string& team);

// Those that have not ended, of whatever incarnation of the server's node manager. O(log servers).
const std::set<RunId>& ActiveRunsOf(const MasterState& state, const std::string& server);

}  // namespace espalier::master
