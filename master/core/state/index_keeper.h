// Keeps the indexes of the master's state up to date: called by Apply alone, for each change, once the change is made.
#pragma once

#include <functional>

#include "master/core/state/master_state.h"
#include "searchplan/plan/plan_edit.h"

namespace espalier::master {

class IndexKeeper {
 public:
  explicit IndexKeeper(MasterState& state) : state_(state) {}

  // Each O(depth log places) of what changes.
  void PlanChanged(SearchPlan& plan, const PlanChange& change);
  void RunAdded(const Run& run);
  void PromiseMade(const Run& run, const Promise& promise);
  void PromiseSettled(const Run& run, const Promise& promise);
  void TrainingStopped(const Run& run);
  void RunEnded(const Run& run);
  void TrialAdded(const Trial& trial);
  void TrialClosed(const Trial& trial);
  // O(log studies), both.
  void StudyAdded(const Study& study);
  void StudyFinished(const Study& study);
  // The study takes batches of its tuner, and no more. Whether its tuner may be asked, if it wants that, when a slot is
  // idle. O(log studies).
  void TunerBegun(const Study& study);
  void TunerEnded(const Study& study);
  void ListToAsk(const Study& study, bool may_be_asked);
  // `before`: what was known of it; null if nothing was. O(its slots and runs) when it registers anew, else O(1).
  void ServerSet(const Server* before, const Server& server);
  void ServerRemoved(const Server& server);
  // It is drained, or is no more. O(its offers).
  void DrainSet(const std::string& server);
  // The slot has something to do, with what is reserved for it, or no more: nothing of slots that another incarnation
  // of the server has, or nobody. O(devices + log slots).
  void SlotTaken(const SlotId& slot, const Reservation& reservation);
  void SlotFreed(const SlotId& slot, const Reservation& reservation, const std::string& incarnation);

  // Estimates the steps of the next `count` nodes again whose steps were never measured. O(count x (hyper-parameters +
  // places of the node x depth log places)), after a change of the cost model O(columns^3) more.
  void ReestimateSome(int count);

  // Puts all that is ready in another order. O(plan nodes + claims + runs under way, x depth log places).
  void RankBy(Ranking ranking);

  // Nobody has to hear of what could be started before. O(that).
  void ForgetWorkChanged();

  // Estimates the node's steps again, as the cost model has them now. O(places of the node x depth log places).
  void Reestimate(const SearchPlan& plan, PlanNodeId node);

 private:
  // Calls `edit` with an editor of the plan's needs.
  template <class Edit>
  void EditNeeds(const SearchPlan& plan, const Edit& edit);
  void Rank(const SearchPlan& plan);
  void ClaimAdded(const SearchPlan& plan, const Claim& claim);
  void AddWaiting(const SearchPlan& plan, const Claim& claim);
  void RemoveWaiting(const SearchPlan& plan, const Claim& claim);
  void TrainingFinished(const SearchPlan& plan, Point failing);
  // The node's steps are estimated, or guessed.
  void NoteEstimated(const SearchPlan& plan, PlanNodeId node);
  // A trial asks for metrics further on.
  void NoteAsked(const SearchPlan& plan, const Trial& trial, const Claim& claim);
  void ListEvaluations(const SearchPlan& plan);
  void SetRoom(const Server& server);
  // Among the servers with idle slots, by what it offers. O(its offers).
  void ListIdle(const Server& server);
  void UnlistIdle(const Server& server);
  OfferKind KindOf(Digest128 trainer, const OfferMade& made) const;
  void NotePreempted(const Run& run);
  void NoteTakenOver(const SearchPlan& plan, Point point, bool is_there);
  void ChangeOpenEnds(Point point, PlanNodeId to, const std::function<void(OpenEnds&)>& change);
  void CountLastClaim(PlanId plan, Point point, std::int64_t sign);
  void CountLineage(const Trial& trial, std::int64_t sign);

  MasterState& state_;
};

}  // namespace espalier::master
