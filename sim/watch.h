// Looks on from outside while a simulation runs: at what the master decides, stores and lets go, and at what nodes are
// acknowledged. Says of the first law that it finds broken. It reads edits, effects and what is stored, and no index.
// One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "master/core/effect.h"
#include "master/core/reactor.h"
#include "sim/ledger.h"
#include "sim/world.h"

namespace espalier::sim {

class Watch {
 public:
  // REQUIRES: `stored` is what the database holds, for as long as the watch lasts.
  Watch(World& world, const master::MasterState& stored) : world_(world), stored_(stored) {}

  // A message has arrived at the master, which may be frozen or busy.
  void OnPosted(const master::NodeMessage& message);
  void OnLoaded(const master::MasterState& state);
  void OnDecided(const master::Event& event, const master::Transition& transition, const master::MasterState& state,
                 Seconds lease);
  void OnStored(const master::StateEdit& edit);
  // Before it is carried out.
  void OnReleased(const master::Effect& effect);
  // A worker trained a step. `to_node`: how long a decision takes to show in that, at most; none: nobody can tell.
  void OnTrained(RunId run, Step step, std::optional<Seconds> to_node);
  // Its trainer has ended the training: it may go back, to stand where that was.
  void OnFinished(RunId run);
  // A node manager heard that these are durable.
  void OnAcknowledged(const std::vector<Report>& reports);

  // Whether the point lost a checkpoint that was stored.
  bool HasDropped(Point point) const { return dropped_.contains(point); }

  // Whether what the step under the plan node returned is among the training metrics.
  bool HasSeries(PlanNodeId node, Step step) const { return losses_.contains({node, step}); }

  // By what was stored when it was made: nothing was trained for it, and no state kept.
  bool WasAnsweredAtOnce(ClaimId claim) const { return answered_at_once_.contains(claim); }

  // For how long the run's slots were held, as its node manager said; none: it did not.
  std::optional<Seconds> HeldBy(RunId run) const {
    const auto held = held_.find(run);
    return held == held_.end() ? std::nullopt : std::optional(held->second);
  }

  std::size_t changes_max() const { return changes_max_; }

 private:
  void NoteSeries(const master::AddTrainingMetrics& added);
  void CheckCost(const master::Event& event, const master::Transition& transition);
  void CheckSlots(const master::Transition& transition, const master::MasterState& state);
  void CheckPromises(const master::Transition& transition, const master::MasterState& state);
  void CheckSavesUnderWay(const master::Event& event, const master::Transition& transition,
                          const master::MasterState& state);
  void NoteAnswers(const master::Transition& transition);
  void CheckLeases(const master::Event& event, const master::Transition& transition, Seconds lease);
  void Check(const master::Reply& reply);
  void Check(const master::SendOrders& send);
  void Check(const master::EventsAdded& added);
  void Check(const master::EndSession&) {}
  void Check(const master::RefuseServer&) {}
  void Check(const master::AdmitUsers&) {}
  void Check(const LogLine&) {}
  void Check(const AnalyseCurve&) {}
  bool IsDurable(const Report& report) const;

  World& world_;
  const master::MasterState& stored_;
  Ledger ledger_;
  std::map<StudyId, std::int64_t> next_event_;  // to be announced by this process of the master
  std::map<master::SessionId, std::string> servers_;
  std::map<std::string, std::set<Moment>> heard_;  // when a message of each server was posted
  std::set<std::pair<RunId, Step>> trained_;
  std::map<std::pair<PlanNodeId, Step>, std::uint64_t> losses_;  // the bits of those that are stored
  std::map<RunId, Seconds> held_;
  std::set<Point> had_checkpoint_;
  std::set<Point> dropped_;
  std::set<ClaimId> answered_at_once_;
  std::size_t changes_max_ = 0;
};

}  // namespace espalier::sim
