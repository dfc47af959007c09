#include "sim/verdict.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <set>

#include "master/core/state/stages.h"
#include "master/core/state/usage.h"
#include "master/core/views/study_summary.h"
#include "searchplan/plan/record_result.h"

namespace espalier::sim {
namespace {

std::string Text(const master::Study& study, const ClaimSettled& settled) {
  return "claim " + std::to_string(settled.claim.value) + " of trial " + std::to_string(settled.trial.value) + " in " +
         study.specification.name + " at step " + std::to_string(settled.step.value);
}

Offer OfferOfStudy(const master::Study& study) {
  Offer offer = OfferOf(1, 1);
  offer.code_digest = study.training.code_digest;
  offer.evaluation_digest = study.evaluation;
  return offer;
}

// Whether so many faults were done to the claim's training, or its evaluation, that it may have been given up.
bool MayHaveFailed(const TrainedAlone& alone, PlanId plan, Step step, const Deeds& deeds) {
  constexpr int kAttempts = 3;
  int in_training = 0;
  for (Step at{0}; at < step; at = at + 1) {
    const auto struck = deeds.struck_in_training.find({plan, alone.StateAt(at)});
    if (struck != deeds.struck_in_training.end()) in_training += struck->second;
  }
  const auto struck = deeds.struck_in_evaluation.find({plan, alone.StateAt(alone.MeasuredAt(step))});
  return in_training >= kAttempts || (struck != deeds.struck_in_evaluation.end() && struck->second >= kAttempts);
}

class ResultChecker {
 public:
  ResultChecker(const master::MasterState& stored, const Watch& watch, const Deeds& deeds)
      : stored_(stored), watch_(watch), deeds_(deeds) {}

  std::string Check(const master::Study& study, const ClaimSettled& settled) {
    const master::Trial& trial = stored_.trials.at(settled.trial);
    if (!settled_.insert(settled.claim).second) return "a claim is settled once: " + Text(study, settled);
    if (settled.state == ClaimState::kCancelled) {
      return trial.cancelled || study.cancelled
                 ? ""
                 : "only a cancelled trial's claims are cancelled: " + Text(study, settled);
    }
    const TrainedAlone& alone = AloneOf(study, trial);
    const TrainedAlone::Answer answer = alone.At(settled.step, study.evaluation);
    if (settled.state == ClaimState::kFailed) {
      const bool expected = (answer.state == ClaimState::kFailed && !answer.by_crashes) ||
                            MayHaveFailed(alone, trial.plan, settled.step, deeds_);
      return expected
                 ? ""
                 : "a claim fails only where training alone does: " + Text(study, settled) + ": " + settled.message;
    }
    if (answer.state == ClaimState::kFailed) return "a claim fails where training alone does: " + Text(study, settled);
    const auto score = settled.metrics.find("score");
    if (score == settled.metrics.end() || !SameScore(score->second, answer.score)) {
      return "each result is what training alone gives: " + Text(study, settled) + " is " +
             std::to_string(score == settled.metrics.end() ? 0 : score->second) + ", alone " +
             std::to_string(answer.score);
    }
    return CheckState(study, settled, alone);
  }

 private:
  static bool SameScore(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  }

  const TrainedAlone& AloneOf(const master::Study& study, const master::Trial& trial) {
    const auto known = alone_.find(trial.id);
    if (known != alone_.end()) return known->second;
    return alone_.emplace(trial.id, TrainedAlone(OfferOfStudy(study), trial.sequences, trial.horizon)).first->second;
  }

  // Law 8: where a claim was done its state was stored, whatever was lost on the way; it stands but for files that were
  // lost later.
  std::string CheckState(const master::Study& study, const ClaimSettled& settled, const TrainedAlone& alone) {
    const SearchPlan& plan = stored_.plans.at(stored_.plan_by_claim.at(settled.claim));
    const Point point = plan.claims.at(settled.claim).point;
    if (alone.last() < settled.step || FailingPoint(plan, point)) return {};
    const StateDigest* digest = plan.FindStateDigest(point);
    if (digest == nullptr) {
      const bool cancelled = study.cancelled || stored_.trials.at(settled.trial).cancelled;
      if (cancelled || watch_.WasAnsweredAtOnce(settled.claim)) return {};
      return "no claim's state is lost: " + Text(study, settled);
    }
    if (digest->sha256 != Sha256Of(alone.StateAt(settled.step))) {
      return "each state is what training alone gives: " + Text(study, settled);
    }
    if (plan.FindCheckpoint(point) != nullptr || watch_.HasDropped(point)) return {};
    return "a checkpoint stands until its file is lost: " + Text(study, settled);
  }

  const master::MasterState& stored_;
  const Watch& watch_;
  const Deeds& deeds_;
  std::set<ClaimId> settled_;
  std::map<TrialId, TrainedAlone> alone_;
};

}  // namespace

std::string FindWrongResult(const master::MasterState& stored, const Watch& watch, const Deeds& deeds) {
  ResultChecker checker(stored, watch, deeds);
  for (const auto& [id, events] : stored.events) {
    for (const StudyEvent& event : events) {
      const auto* settled = std::get_if<ClaimSettled>(&event);
      if (settled == nullptr) continue;
      if (std::string wrong = checker.Check(stored.studies.at(id), *settled); !wrong.empty()) return wrong;
    }
  }
  return {};
}

std::string FindWrongLog(const master::MasterState& stored, const Deeds& deeds) {
  std::map<RunId, std::int64_t> logged;
  for (const auto& [plan_id, plan] : stored.plans) {
    for (const auto& [id, node] : plan.nodes) {
      for (const TrainedRange& range : node.results->trained) logged[range.run] += range.to - range.from;
    }
  }
  for (const auto& [run, steps] : deeds.trained) {
    if (logged[run] == std::ssize(steps)) continue;
    return "what was trained is counted from the step logs: run " + std::to_string(run.value) + " trained " +
           std::to_string(steps.size()) + " steps, and " + std::to_string(logged[run]) + " are counted";
  }
  return {};
}

std::string FindMissingSeries(const master::MasterState& stored, const Watch& watch, const Deeds& deeds) {
  for (const auto& [run, steps] : deeds.returned) {
    for (const Step step : steps) {
      const PlanNodeId node = PointOf(stored.runs.at(run), step).node;
      if (watch.HasSeries(node, step)) continue;
      return "what a step returned is kept: run " + std::to_string(run.value) + " step " + std::to_string(step.value);
    }
  }
  return {};
}

std::string FindTooManyAttempts(const Deeds& deeds) {
  // Three count; a checkpoint that is stored nearer begins a new count, as does the one before when it is lost; and
  // what is lost with its server counts nothing.
  constexpr int kAttemptsMax = 10;
  for (const auto* struck : {&deeds.struck_in_training, &deeds.struck_in_evaluation}) {
    for (const auto& [state, count] : *struck) {
      if (count > kAttemptsMax) return "nothing is tried for ever: " + std::to_string(count) + " times from one state";
    }
  }
  return {};
}

std::string FindWaste(const master::MasterState& stored, Time now) {
  for (const auto& [id, study] : stored.studies) {
    const std::int64_t wasted = master::Summarize(stored, id, now).steps.wasted;
    if (wasted > 0) {
      return "the service's own audit finds nothing wasted: " + std::to_string(wasted) + " steps of " +
             study.specification.name;
    }
  }
  return {};
}

std::string FindWrongBill(const master::MasterState& stored, const Watch& watch, Time now,
                          std::optional<Seconds> to_node) {
  Seconds charged{0};
  for (const auto& [id, run] : stored.runs) {
    Seconds of_run{0};
    for (const auto& [study, microseconds] : run.charges) of_run += std::chrono::microseconds(microseconds);
    charged += of_run;
    const std::optional<Seconds> held = watch.HeldBy(id);
    if (!to_node || !held) continue;
    if (std::abs((of_run - run.slots * *held).count()) <= run.slots * to_node->count()) continue;
    return "a run is charged for what it held: run " + std::to_string(id.value) + " held " +
           std::to_string(held->count()) + " s, and is charged " + std::to_string(of_run.count());
  }
  Seconds billed{0};
  for (const auto& [id, study] : stored.studies) {
    const master::Use use = master::UseOf(stored, id, now);
    billed += use.device;
    if (use.shared > use.device + Seconds(1e-6))
      return "what is shared is part of what is used: " + study.specification.name;
  }
  if (std::abs((billed - charged).count()) <= 1e-3) return {};
  return "the bills add up to what was used: " + std::to_string(billed.count()) + " s of " +
         std::to_string(charged.count());
}

namespace {

// Of what the run was charged, the part for its time from then on.
std::int64_t SinceMidnight(const master::Run& run, std::int64_t microseconds, Time midnight) {
  if (run.ordered_at >= midnight) return microseconds;
  if (run.charged_to <= midnight) return 0;
  const auto whole = static_cast<WideCount>((run.charged_to - run.ordered_at).count());
  return static_cast<std::int64_t>(static_cast<WideCount>(microseconds) * (run.charged_to - midnight).count() / whole);
}

}  // namespace

std::string FindWrongUsage(const master::MasterState& stored) {
  std::map<std::string, master::Usage> teams;
  for (const auto& [id, plan] : stored.plans) {
    for (const auto& [node_id, node] : plan.nodes) {
      master::Usage& team = teams[stored.studies.at(node.caused_by).team];
      ++team.plan_nodes;
      for (const auto& [step, checkpoint] : node.results->checkpoints) {
        const bool is_taken_over = OriginAt(plan, {node_id, step}) != nullptr;
        team.stored_bytes += is_taken_over ? 0 : checkpoint.bytes;
      }
    }
  }
  for (const auto& [id, run] : stored.runs) {
    for (const auto& [study, microseconds] : run.charges) {
      master::Usage& team = teams[stored.studies.at(study).team];
      team.day = std::max(team.day, std::chrono::floor<std::chrono::days>(run.charged_to));
    }
  }
  for (const auto& [id, run] : stored.runs) {
    for (const auto& [study, microseconds] : run.charges) {
      master::Usage& team = teams[stored.studies.at(study).team];
      team.device_time += SinceMidnight(run, microseconds, team.day);
    }
  }
  for (const auto& [team, usage] : teams) {
    if (master::UsageOf(stored, {master::Party::Kind::kTeam, team}) != usage) {
      return "what a team uses is counted as it is: " + team;
    }
  }
  return {};
}

std::string FindRefusalLoop(const master::MasterState& stored, const Deeds& deeds) {
  // Pauses of 1 s, doubling to 60 s, over ten minutes; and a few that begin afresh, with master or node manager.
  constexpr int kRefusalsMax = 45;
  std::map<std::pair<std::string, master::StageBeginning>, int> refused;
  for (const RunId id : deeds.refused) {
    const auto run = stored.runs.find(id);
    if (run == stored.runs.end()) continue;
    if (++refused[{run->second.slot.server, master::StageOf(run->second)}] <= kRefusalsMax) continue;
    return "who refuses an order is not asked over and over: " + run->second.slot.server + ", more than " +
           std::to_string(kRefusalsMax) + " times for one stage";
  }
  return {};
}

std::string FindRunLoop(const master::MasterState& stored, const Deeds& deeds, int fault_count) {
  std::map<std::pair<Point, bool>, int> begun;
  for (const auto& [id, run] : stored.runs) {
    if (deeds.refused.contains(id)) continue;
    const int count = ++begun[{master::BeginningOf(run), run.path.empty()}];
    const std::size_t ways = stored.trials.size() + static_cast<std::size_t>(fault_count);
    if (static_cast<std::size_t>(count) > ways) {
      return "runs are not ordered over and over: " + std::to_string(count) + " begin at node " +
             std::to_string(master::BeginningOf(run).node.value) + " step " +
             std::to_string(master::BeginningOf(run).step.value);
    }
  }
  return {};
}

std::string FindUnsettled(const master::MasterState& stored) {
  for (const auto& [id, plan] : stored.plans) {
    if (plan.waiting.empty()) continue;
    const Claim& claim = plan.claims.at(*plan.waiting.begin());
    return "claim " + std::to_string(claim.id.value) + " of plan " + std::to_string(id.value) + " waits at node " +
           std::to_string(claim.point.node.value) + " step " + std::to_string(claim.point.step.value);
  }
  for (const auto& [id, run] : stored.runs) {
    if (!run.ended()) return "run " + std::to_string(id.value) + " is " + std::string(master::Name(run.state));
  }
  for (const auto& [id, study] : stored.studies) {
    if (!study.finished_at) return study.specification.name + " is not finished";
  }
  return {};
}

}  // namespace espalier::sim
