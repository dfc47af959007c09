#include "master/core/views/explain_stage.h"

#include <algorithm>
#include <set>

#include "master/core/state/demand.h"
#include "master/core/state/stages.h"
#include "master/core/state/usage.h"
#include "master/core/views/held_back.h"
#include "master/core/views/placement.h"
#include "master/core/views/running_work.h"
#include "master/core/views/trainer_standing.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

constexpr std::size_t kPlacesMax = 10'000;
constexpr std::int64_t kPathsAheadMax = 1'000;

std::string NameOfRun(const Run& run) { return "run " + std::to_string(run.id.value); }

std::string LastLine(const std::string& log) {
  const std::size_t end = log.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return "";
  const std::size_t begin = log.find_last_of('\n', end);
  return log.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class Explainer {
 public:
  Explainer(const MasterState& state, const SearchPlan& plan, const Caller& caller, Time now)
      : state_(state), plan_(plan), caller_(caller), now_(now) {
    static const NeedIndex kNone;
    const auto needs = state.index.needs.find(plan.id);
    needs_ = needs == state.index.needs.end() ? &kNone : &needs->second;
  }

  ExplainedStage Explain(Point point) {
    told_.point = point;
    const bool is_told =
        ExplainFailure() || ExplainOrigin() || ExplainCheckpoint() || ExplainRunning() || ExplainNeed();
    if (!is_told && !ExplainFailedCheck()) ExplainRest();
    AddEvaluationFailures();
    if (told_.standing != StageStanding::kFailed) Serve(ClaimsWanting(state_, plan_, point, kPlacesMax));
    return std::move(told_);
  }

  ExplainedStage Explain(const Run& run) {
    if (run.ended()) {
      told_.point = run.path.empty() ? *run.start : PointOf(run, run.path.back().to);
      ExplainedStage stage = Explain(told_.point);
      stage.why = NameOfRun(run) + (run.failed ? " failed" : " has ended") + "; " + stage.why;
      return stage;
    }
    told_.point = run.path.empty() ? *run.start : PointOf(run, std::max(EndOf(run), BeginningOf(run).step + 1));
    TellOf(run, told_.point);
    const Step next = std::max(BeginningOf(run).step + 1, std::min(run.at() + 1, told_.point.step));
    const Point from = run.path.empty() ? *run.start : PointOf(run, next);
    Serve(ClaimsWanting(state_, plan_, from, kPlacesMax));
    return std::move(told_);
  }

 private:
  bool ExplainFailure() {
    const std::optional<Point> failing = FailingPoint(plan_, told_.point);
    if (!failing) return false;
    const Failure& failure = *plan_.FindFailure(*failing);
    if (failure.kind == Failure::Kind::kDiverged) {
      told_.standing = StageStanding::kDone;
      told_.why = "training diverged at " + NameOf(*failing) + ", which is its result: " + failure.message;
      return true;
    }
    if (failure.kind == Failure::Kind::kFinished) {
      told_.standing = StageStanding::kDone;
      told_.why = "training was finished before " + NameOf(*failing) + ", as its trainer says: " + failure.message;
      return true;
    }
    told_.standing = StageStanding::kFailed;
    told_.waits_for = WaitsFor::kRetry;
    told_.why = "training failed at " + NameOf(*failing) + " (" + std::string(Name(failure.kind)) +
                "); `espalier stage retry " + NameOf(*failing) + "` tries it again:\n" + failure.message;
    Serve({ClaimsFailedAt(plan_, told_.point), true});
    return true;
  }

  // What comes with the state that the lineage begins with is never trained here; the state itself may be evaluated
  // here.
  bool ExplainOrigin() {
    const Origin* origin = OriginOf(plan_, told_.point.node);
    if (origin == nullptr || told_.point.step >= origin->point.step) return false;
    const TrainingIdentity& training = state_.plans.at(origin->plan).identity.training;
    told_.standing = StageStanding::kDone;
    told_.why = "training begins behind it, with a state that other code left (trainer " + training.trainer +
                ", code " + training.code_digest + "): stage " + NameOf(origin->point);
    return true;
  }

  bool ExplainCheckpoint() {
    const Checkpoint* checkpoint = plan_.FindCheckpoint(told_.point);
    if (checkpoint == nullptr) return false;
    told_.standing = StageStanding::kDone;
    told_.checkpoint = *checkpoint;
    told_.why = "its state is stored: " + checkpoint->file;
    const Place* place = needs_->Find(told_.point);
    if (place == nullptr) return true;
    for (const auto& [evaluation, waiting] : place->waiting) {
      if (waiting.claims.empty()) continue;
      if (waiting.covered_by.empty()) return ExplainEvaluation(evaluation), true;
      TellOf(state_.runs.at(*waiting.covered_by.begin()), told_.point);
    }
    return true;
  }

  // Of a state that stands, which claims want and no run measures.
  void ExplainEvaluation(const std::string& evaluation) {
    told_.placed_on.reset();
    told_.standing = StageStanding::kWaiting;
    const std::string begin = "its state is stored, and its evaluation ";
    if (TellPause({told_.point, evaluation}, begin) || TellCheck(begin)) return;
    if (IsHeldBack(state_, plan_, {evaluation, told_.point})) {
      const Claim& claim = plan_.claims.at(*needs_->Find(told_.point)->waiting.at(evaluation).claims.begin());
      return TellStopped(state_.trials.at(claim.trial).study, begin);
    }
    if (!IsOffered(state_, plan_, evaluation)) return TellUnoffered(evaluation, begin);
    told_.waits_for = WaitsFor::kSlot;
    if (TellDraining(evaluation, begin) || TellRefused({told_.point, evaluation}, begin)) return;
    told_.why = begin + "waits for a slot: evaluations go before training";
  }

  // The run that is expected there first, of those that train up to the point; else one that stores its state.
  bool ExplainRunning() {
    const Run* first = nullptr;
    const auto passing = state_.index.passing.find(told_.point.node);
    if (passing != state_.index.passing.end()) {
      for (const RunId id : passing->second) {
        const Run& run = state_.runs.at(id);
        if (run.at() > told_.point.step || EndOf(run) < told_.point.step || !HasOnPath(run, told_.point)) continue;
        if (first == nullptr || run.at() > first->at()) first = &run;
      }
    }
    const Place* place = needs_->Find(told_.point);
    if (first == nullptr && place != nullptr && !place->promised.empty()) {
      first = &state_.runs.at(place->promised.front());
    }
    if (first != nullptr) TellOf(*first, told_.point);
    return first != nullptr;
  }

  bool ExplainNeed() {
    const std::optional<NeededStage> needed = NeededAt(state_, plan_, told_.point);
    if (!needed) return false;
    told_.standing = StageStanding::kWaiting;
    std::string begin = "it ";
    if (needed->end != needed->head_end) {
      const Point above = needs_->Above(plan_, needed->end).value();
      begin = "it follows " + NameOf(above) + " on a path that ";
      TellPath(*needed, begin);
      told_.waits_for = WaitsFor::kStage;
      told_.waits_for_stage = above;
    } else {
      TellPath(*needed, begin);
    }
    WarnOfEvaluations();
    return true;
  }

  // Why the path that leads to the stage is not ordered.
  void TellPath(const NeededStage& needed, const std::string& begin) {
    const Place* source = needs_->Find(needed.source);
    if (source != nullptr && !source->stored) {
      const Run& run = state_.runs.at(source->promised.front());
      told_.waits_for = WaitsFor::kStage;
      told_.waits_for_stage = needed.source;
      told_.why = begin + "waits for the state at " + NameOf(needed.source) + ", which " + Named(run) + " promises";
      return;
    }
    if (TellPause({{needed.head, needed.source.step}, ""}, begin) || TellCheck(begin)) return;
    if (source != nullptr && IsHeldBack(state_, *needs_, {needed.source, needed.head})) {
      return TellStopped(source->successors.at(needed.head).studies.counts().front().first, begin);
    }
    if (!IsOffered(state_, plan_, "")) return TellUnoffered("", begin);
    if (TellTooLarge(needed, begin)) return;
    told_.waits_for = WaitsFor::kSlot;
    told_.paths_ahead = source == nullptr ? 0 : PathsAhead(*source, needed.head);
    if (TellDraining("", begin) || TellRefused({{needed.head, needed.source.step}, ""}, begin)) return;
    told_.why = begin + "waits for a slot: " + std::to_string(*told_.paths_ahead) +
                (*told_.paths_ahead == kPathsAheadMax ? " or more" : "") +
                (*told_.paths_ahead == 1 ? " path of its trainer is" : " paths of its trainer are") + " ahead of it";
  }

  // Where its path was out of memory. False: some server has what it takes.
  bool TellTooLarge(const NeededStage& needed, const std::string& begin) {
    const Place* source = needs_->Find(needed.source);
    if (source == nullptr) return false;
    const Demand demand = DemandAlong(state_, plan_, needed.source, needed.head);
    if (demand == Demand{}) return false;
    std::string takes = std::to_string(demand.compute) + " thousandths of one device";
    if (demand.memory_bytes > 0) takes += " with " + std::to_string(demand.memory_bytes) + " bytes of memory in all";
    told_.warnings.push_back("it was out of memory with less than it takes now: " + takes);
    if (IsHad(state_, plan_, demand)) return false;
    told_.waits_for = WaitsFor::kOffer;
    told_.why = begin + "takes " + takes + ", and no server that offers it has so much: it was out of memory with less";
    return true;
  }

  // False: some server that offers it takes runs.
  bool TellDraining(const std::string& evaluation, const std::string& begin) {
    const std::set<std::string> draining = DrainingOffers(state_, plan_, evaluation);
    if (draining.empty()) return false;
    told_.why = begin + "waits for a slot: all servers that offer it are draining (" + Joined(draining) +
                "); `espalier server list` says why";
    return true;
  }

  // False: nothing pauses what begins there.
  bool TellPause(const StageBeginning& beginning, const std::string& begin) {
    const Pause* longest = LongestPause(state_, beginning);
    if (longest == nullptr || longest->until <= now_) return false;
    const Pause& pause = *longest;
    const Attempts* attempts = plan_.FindAttempts(pause.node, pause.key);
    if (pause.until == Time::max()) {
      told_.waits_for = WaitsFor::kRetry;
      told_.why = begin + "is held, since servers were lost under it one after another";
      if (attempts != nullptr) told_.why += " (" + Joined(attempts->lost_servers) + ")";
      told_.why += "; `espalier stage retry " + NameOf(told_.point) + "` releases it";
      return true;
    }
    told_.waits_for = WaitsFor::kPause;
    told_.paused_until = pause.until;
    const auto left = std::chrono::ceil<std::chrono::seconds>(pause.until - now_).count();
    told_.why = begin + "is paused for " + std::to_string(left) + " s more";
    if (attempts == nullptr) return true;
    const std::int64_t count = attempts->crashes + attempts->kills + std::min<std::int64_t>(attempts->unusable, 1);
    told_.why += ", after " + std::to_string(count) + (count == 1 ? " failure" : " failures");
    if (const std::string line = LastLine(attempts->log); !line.empty()) told_.why += "; the last: " + line;
    return true;
  }

  // For all studies that want it, of which this is one. What others use is not for everybody to know.
  void TellStopped(StudyId id, const std::string& begin) {
    const Study& study = state_.studies.at(id);
    told_.waits_for = WaitsFor::kQuota;
    told_.why = begin + "waits, since whoever wants it has come to a quota";
    if (MaySee(caller_, study)) told_.why += ": " + WhyHeldBack(state_, study, now_);
  }

  // False: some server that offers it has not refused it lately.
  bool TellRefused(const StageBeginning& beginning, const std::string& begin) {
    const auto refusals = state_.refusals.find(beginning);
    if (refusals == state_.refusals.end()) return false;
    std::optional<Time> until;
    std::string by;
    std::set<std::string> taking = TakingServers(state_, plan_, beginning.second);
    for (const auto& [server, refusal] : refusals->second) {
      const std::string said = server + " does not take it: " + refusal.why;
      told_.warnings.push_back(said);
      if (refusal.until <= now_ || taking.erase(server) == 0) continue;
      by += (by.empty() ? "" : "; ") + said;
      until = std::min(until.value_or(refusal.until), refusal.until);
    }
    if (!until || !taking.empty()) return false;
    told_.waits_for = WaitsFor::kPause;
    told_.paused_until = until;
    told_.paths_ahead.reset();
    const auto left = std::chrono::ceil<std::chrono::seconds>(*until - now_).count();
    told_.why = begin + "is paused for " + std::to_string(left) + " s more, since servers refuse it: " + by;
    return true;
  }

  // False: nothing waits for the check of its trainer.
  bool TellCheck(const std::string& begin) {
    if (!AwaitsCheck(state_, plan_)) return false;
    told_.waits_for = WaitsFor::kCheck;
    told_.why = begin + "waits until its trainer is checked (check: first), which ";
    const auto place = state_.checks.find({plan_.trainer, plan_.identity.device_kind});
    told_.why += place == state_.checks.end()
                     ? "waits for a slot"
                     : "is done on " + place->second.slot.server + "/" + std::to_string(place->second.slot.index);
    return true;
  }

  // Of what was claimed there by studies that were stopped for their trainer.
  bool ExplainFailedCheck() {
    const std::vector<ClaimId> claims = ClaimsFailedAt(plan_, told_.point);
    for (const ClaimId id : claims) {
      const Study& study = state_.studies.at(state_.trials.at(plan_.claims.at(id).trial).study);
      const CheckFinding* failed = FailedCheckOf(state_, study);
      if (failed == nullptr) continue;
      told_.standing = StageStanding::kFailed;
      told_.why = WhyStopped(*failed);
      Serve({claims, true});
      return true;
    }
    return false;
  }

  void TellUnoffered(const std::string& evaluation, const std::string& begin) {
    const std::string& trainer = plan_.identity.training.trainer;
    told_.waits_for = WaitsFor::kOffer;
    told_.other_offers = OtherOffers(state_, plan_, evaluation);
    told_.why = begin + "is offered by no connected server: " +
                (told_.other_offers.empty() ? "none offers a trainer " + trainer : Print(told_.other_offers, trainer));
    if (const std::string refusals = RefusalsOf(state_, plan_.id, caller_); !refusals.empty()) {
      told_.why += "; " + refusals;
    }
  }

  // Claims at the point that will have no metrics once it is trained.
  void WarnOfEvaluations() {
    const Place* place = needs_->Find(told_.point);
    if (place == nullptr || told_.waits_for == WaitsFor::kOffer) return;
    for (const auto& [evaluation, waiting] : place->waiting) {
      if (waiting.claims.empty() || evaluation == kStateAlone || IsOffered(state_, plan_, evaluation)) continue;
      told_.warnings.push_back("no connected server evaluates it as is asked: " +
                               Print(OtherOffers(state_, plan_, evaluation), plan_.identity.training.trainer));
    }
  }

  void ExplainRest() {
    if (needs_->Find(told_.point) == nullptr || !needs_->Find(told_.point)->wants_state()) {
      const NodeResults& results = *plan_.Node(told_.point.node).results;
      const bool measured = results.metrics.contains(told_.point.step);
      const bool trained = std::any_of(results.trained.begin(), results.trained.end(), [&](const TrainedRange& range) {
        return range.from < told_.point.step && told_.point.step <= range.to;
      });
      if (measured || trained) {
        told_.standing = StageStanding::kDone;
        told_.why = measured ? "it was trained and measured; its state is not kept"
                             : "it was trained; its state is not kept, and no claim waits for it";
        return;
      }
    }
    told_.standing = StageStanding::kPlanned;
    told_.why = "no claim waits for it";
  }

  void AddEvaluationFailures() {
    const auto& failures = plan_.Node(told_.point.node).results->evaluation_failures;
    const auto there = failures.find(told_.point.step);
    if (there == failures.end()) return;
    const std::string& why = there->second.begin()->second;
    if (told_.standing != StageStanding::kDone) {
      told_.warnings.push_back("an evaluation there failed: " + LastLine(why));
      return;
    }
    told_.standing = StageStanding::kFailed;
    told_.waits_for = WaitsFor::kRetry;
    told_.why = "it was trained, and its evaluation failed; `espalier stage retry " + NameOf(told_.point) +
                "` tries it again:\n" + why;
    std::vector<ClaimId> failed = ClaimsFailedAt(plan_, told_.point);
    std::erase_if(failed, [&](ClaimId claim) { return plan_.claims.at(claim).point != told_.point; });
    Serve({std::move(failed), true});
  }

  // A run that trains, measures or stores it.
  void TellOf(const Run& run, Point point) {
    told_.standing = StageStanding::kRunning;
    told_.placed_on = PlaceOf(state_, run, point.step, caller_.team);
    const std::string where = run.slot.server + "/" + std::to_string(run.slot.index);
    const auto server = state_.servers.find(run.slot.server);
    if (server != state_.servers.end() && !server->second.trouble.empty()) {
      told_.warnings.push_back("server " + server->first + ": " + server->second.trouble);
    }
    if (!run.training()) {
      told_.why = Named(run) + " has trained it on " + where + ", and its state is on its way to the store";
      return;
    }
    const std::string at = ", at step " + std::to_string(run.at().value);
    if (run.path.empty() || run.at() >= point.step) {
      told_.why = Named(run) + " has it on " + where + at + ", to measure or store it";
    } else {
      told_.why = Named(run) + " trains it on " + where + at + " of " + std::to_string(EndOf(run).value);
    }
    if (const std::string placed = WhyPlaced(state_, run); !placed.empty())
      told_.why += "; placed there, since " + placed;
    if (run.preempt) told_.why += "; it stops at the end of this step, so that other work comes first";
    if (auto warning = LongStepOf(state_, run, now_)) told_.warnings.push_back(*std::move(warning));
  }

  std::int64_t PathsAhead(const Place& source, PlanNodeId head) const {
    const auto own = std::find_if(source.order.begin(), source.order.end(),
                                  [&](const RankedSuccessor& each) { return each.node == head; });
    if (own == source.order.end()) return 0;
    const auto pool = state_.index.ready_plans.find({plan_.trainer, plan_.identity.device_kind});
    if (pool == state_.index.ready_plans.end()) return 0;
    std::int64_t ahead = 0;
    for (const RankedPlan& ranked : pool->second) {
      if (ranked.rank <= own->rank) break;
      const NeedIndex& needs = state_.index.needs.at(ranked.plan);
      for (const ReadyPath& ready : needs.ready_paths()) {
        if (ready.rank <= own->rank) break;
        for (const RankedSuccessor& first : needs.Find(ready.source)->order) {
          if (first.rank <= own->rank) break;
          if (++ahead == kPathsAheadMax) return ahead;
        }
      }
    }
    return ahead;
  }

  void Serve(const WantingClaims& wanting) {
    std::set<TrialId> trials;
    for (const ClaimId claim : wanting.claims) trials.insert(plan_.claims.at(claim).trial);
    told_.serves.clear();
    told_.serves_others = 0;
    told_.serves_more = !wanting.complete;
    for (const TrialId trial : trials) {
      if (MaySee(caller_, state_.studies.at(state_.trials.at(trial).study))) {
        told_.serves.push_back(trial);
      } else {
        ++told_.serves_others;
      }
    }
  }

  bool MayName(const Run& run) const { return IsForTeam(state_, run, caller_.team); }
  std::string Named(const Run& run) const { return MayName(run) ? NameOfRun(run) : "a run"; }

  static bool HasOnPath(const Run& run, Point point) {
    return std::any_of(run.path.begin(), run.path.end(), [&](const PathStage& stage) {
      return stage.node == point.node && stage.from < point.step && point.step <= stage.to;
    });
  }

  const MasterState& state_;
  const SearchPlan& plan_;
  const Caller& caller_;
  const Time now_;
  const NeedIndex* needs_ = nullptr;
  ExplainedStage told_;
};

}  // namespace

std::string_view Name(StageStanding standing) {
  switch (standing) {
    case StageStanding::kDone:
      return "done";
    case StageStanding::kRunning:
      return "running";
    case StageStanding::kWaiting:
      return "waiting";
    case StageStanding::kFailed:
      return "failed";
    case StageStanding::kPlanned:
      return "planned";
  }
  return "";
}

Result<ExplainedStage> ExplainStage(const MasterState& state, Point point, const Caller& caller, Time now) {
  ESPALIER_ASSIGN(const SearchPlan* plan, FindStage(state, point, caller));
  ExplainedStage explained = Explainer(state, *plan, caller, now).Explain(point);
  explained.costs = CostsOf(state, *plan, plan->Node(point.node));
  return explained;
}

Result<ExplainedStage> ExplainRun(const MasterState& state, RunId id, const Caller& caller, Time now) {
  const auto run = state.runs.find(id);
  if (run == state.runs.end() || !IsForTeam(state, run->second, caller.team)) {
    return MakeError(ErrorCode::kNotFound, "no run " + std::to_string(id.value) + " of your team's", "run");
  }
  const SearchPlan& plan = state.plans.at(run->second.plan);
  ExplainedStage explained = Explainer(state, plan, caller, now).Explain(run->second);
  explained.costs = CostsOf(state, plan, plan.Node(explained.point.node));
  return explained;
}

}  // namespace espalier::master
