#include "client/simulation/replay.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "client/simulation/study_to_simulate.h"
#include "client/study_file/study_values.h"
#include "client/study_file/yaml_tree.h"

namespace espalier {
namespace {

constexpr Seconds kUntilServersServe{5};
constexpr Seconds kLastSave{10};  // a study that nothing more comes of ends once its states are stored

std::map<std::int64_t, const TracedNode*> NodesOf(const TracedStudy& study) {
  std::map<std::int64_t, const TracedNode*> nodes;
  for (const TracedNode& node : study.nodes) nodes.emplace(node.id, &node);
  return nodes;
}

Error OfStudy(const TracedStudy& study, const Error& error) {
  return {error.code, "study " + study.name + ": " + (error.field.empty() ? "" : error.field + ": ") + error.message,
          "--trace"};
}

// What a client that brings no built-in tuner says in its definition, if it says it as study files do.
void TakeFrom(const std::string& definition, master::StudySpecification& specification) {
  const tl::expected<YamlNode, YamlError> root = ParseYaml(definition);
  if (!root.has_value()) return;
  if (const YamlNode* data = root->Find("data"); data != nullptr) specification.data = data->text;
  if (const YamlNode* step = root->Find("step"); step != nullptr) {
    specification.step = ToStepMeaning(*step, "step").value_or(StepMeaning{});
  }
  const YamlNode* evaluate = root->Find("evaluate");
  const YamlNode* every = evaluate == nullptr ? nullptr : evaluate->Find("every");
  if (every != nullptr) specification.evaluate_every = WholeNumber(*every, "evaluate.every", 1).value_or(0);
}

// The types of what the trials name, as they are written.
Result<ValueTypes> TypesOf(const TracedStudy& study) {
  StudyFile file;
  for (const TracedTrial& trial : study.trials) {
    for (const auto& [name, text] : trial.sequences) {
      ESPALIER_ASSIGN(Expression expression, ParseExpression(text));
      file.written.push_back({.field = "trial " + std::to_string(trial.id) + ": " + name,
                              .name = name,
                              .expression = std::move(expression),
                              .text = text,
                              .horizon = trial.horizon});
    }
  }
  return GuessTypes(file, Schema{});
}

Result<sim::StudyToSimulate> AskedFor(const TracedStudy& study) {
  sim::StudyToSimulate asked{.specification = {.name = study.name,
                                               .trainer = study.trainer,
                                               .metric = study.metric,
                                               .goal = study.goal,
                                               .definition = study.definition},
                             .make_tuner = {},
                             .batches = BatchesOf(study)};
  TakeFrom(study.definition, asked.specification);
  ESPALIER_ASSIGN(asked.specification.undeclared, TypesOf(study));
  return asked;
}

// When its user cancelled it, since it came.
Seconds CancelledAfter(const TracedStudy& study) {
  Seconds last = study.arrived;
  for (const TracedTrial& trial : study.trials) {
    if (trial.cancelled && trial.closed) last = std::max(last, *trial.closed);
  }
  return (last == study.arrived ? study.ended : last) - study.arrived;
}

Result<sim::StudyToSimulate> StudyOf(const TracedStudy& study) {
  Result<sim::StudyToSimulate> replayed;
  if (study.has_tuner) {
    ESPALIER_ASSIGN(const StudyFile file, ParseDefinition(study.definition));
    replayed = StudyToSimulateFrom(file);
  } else {
    replayed = AskedFor(study);
  }
  if (!replayed.has_value()) return replayed;
  replayed->specification.scope = study.scope;
  if (study.cancelled) replayed->cancelled_after = CancelledAfter(study);
  return replayed;
}

// With what failed as no number: it ranks last.
std::map<Step, Metrics> MetricsOf(const TracedStudy& study, const TracedTrial& trial) {
  std::map<Step, Metrics> metrics = trial.metrics;
  for (const TracedClaim& claim : trial.claims) {
    if (claim.state != ClaimState::kFailed) continue;
    metrics[claim.step].try_emplace(study.metric, std::numeric_limits<double>::quiet_NaN());
  }
  return metrics;
}

Result<void> Record(const TracedStudy& study, const master::StudySpecification& specification,
                    sim::RecordedTrainings& recorded) {
  const auto nodes = NodesOf(study);
  bool is_measured = false;
  for (const TracedTrial& trial : study.trials) {
    sim::RecordedTraining training{.name = {specification.trainer, specification.data, specification.step},
                                   .sequences = trial.sequences,
                                   .types = specification.undeclared,
                                   .stretches = {},
                                   .metrics = MetricsOf(study, trial)};
    for (const TracedStretch& stretch : trial.lineage) {
      const TracedNode& node = *nodes.at(stretch.node);
      training.stretches.push_back({stretch.until, node.costs, node.trained});
      is_measured |= node.trained && node.costs.contains(CostKind::kStep);
    }
    ESPALIER_RETURN_IF_ERROR(recorded.Add(training));
  }
  if (is_measured) return {};
  return MakeError(ErrorCode::kInvalidArgument, "no step of it was measured; nothing tells how long it takes");
}

Seconds CostOf(const TracedNode& node, CostKind kind) {
  const auto cost = node.costs.find(kind);
  return cost == node.costs.end() ? Seconds{0} : cost->second;
}

// By node, a trial that passes it.
std::map<std::int64_t, const TracedTrial*> TrialsByNode(const TracedStudy& study) {
  std::map<std::int64_t, const TracedTrial*> trials;
  for (const TracedTrial& trial : study.trials) {
    for (const TracedStretch& stretch : trial.lineage) trials.emplace(stretch.node, &trial);
  }
  return trials;
}

// What the run did on the way of a trial that passes its end: beginning, steps, evaluations.
Seconds TimeOfWork(const TracedRun& run, const TracedTrial& trial,
                   const std::map<std::int64_t, const TracedNode*>& nodes) {
  const Step from = run.from.until;
  const Step to = run.to.until;
  const TracedNode& beginning = *nodes.at(nodes.contains(run.from.node) ? run.from.node : trial.lineage.front().node);
  Seconds time = CostOf(beginning, from == Step{0} ? CostKind::kSetUp : CostKind::kLoad);
  Step begin{0};
  for (const TracedStretch& stretch : trial.lineage) {
    const TracedNode& node = *nodes.at(stretch.node);
    const std::int64_t steps = std::min(to, stretch.until) - std::max(from, begin);
    if (steps > 0) time += CostOf(node, CostKind::kStep) * static_cast<double>(steps);
    for (auto at = trial.metrics.upper_bound(std::max(from, begin)); at != trial.metrics.end(); ++at) {
      if (at->first > std::min(to, stretch.until)) break;
      time += CostOf(node, CostKind::kEvaluate);
    }
    begin = stretch.until;
  }
  return time;
}

// When its user said that nothing more comes: with the last trial that was closed, unless the study waited for it.
Seconds FinishedAt(const TracedStudy& study) {
  Seconds closed = study.arrived;
  Seconds settled = study.arrived;
  for (const TracedTrial& trial : study.trials) {
    closed = std::max(closed, trial.closed.value_or(study.arrived));
    for (const TracedClaim& claim : trial.claims) settled = std::max(settled, claim.settled.value_or(claim.made));
  }
  return study.ended - std::max(closed, settled) < kLastSave ? closed : study.ended;
}

Seconds MedianOf(std::vector<Seconds> times) {
  if (times.empty()) return Seconds{0};
  const auto middle = times.begin() + std::ssize(times) / 2;
  std::ranges::nth_element(times, middle);
  return *middle;
}

}  // namespace

std::vector<sim::TimedBatch> BatchesOf(const TracedStudy& study) {
  const Seconds finished = FinishedAt(study);
  std::map<Seconds, master::SubmitBatch> batches;
  for (std::size_t i = 0; i < study.trials.size(); ++i) {
    const TracedTrial& trial = study.trials[i];
    const TrialId id{static_cast<std::int64_t>(i) + 1};
    master::NewTrial added{.sequences = trial.sequences, .horizon = trial.horizon};
    Step last{0};
    for (const TracedClaim& claim : trial.claims) {
      if (claim.step <= last) continue;  // asked for again, when its stage was tried again
      if (last == Step{0}) {
        added.steps = claim.step;
      } else if (claim.made <= trial.submitted) {
        added.more.push_back(claim.step);
      } else {
        batches[claim.made].claims.push_back({id, claim.step});
      }
      last = claim.step;
    }
    batches[trial.submitted].new_trials.push_back(std::move(added));
    if (!trial.closed || *trial.closed >= finished || study.cancelled) continue;
    if (*trial.closed <= trial.submitted) continue;  // its id was not known yet; the end closes it
    master::SubmitBatch& batch = batches[*trial.closed];
    (trial.cancelled ? batch.cancel : batch.close).push_back(id);
  }
  if (!study.cancelled) batches[finished].finish = true;
  std::vector<sim::TimedBatch> timed;
  for (auto& [at, batch] : batches) timed.push_back({at - study.arrived, std::move(batch)});
  return timed;
}

sim::Durations DurationsOf(const Trace& trace) {
  std::map<std::pair<std::string, int>, std::pair<Seconds, Seconds>> first_runs;  // by slot: when, and what was left
  std::vector<Seconds> left;
  for (const TracedStudy& study : trace.studies) {
    const auto nodes = NodesOf(study);
    const auto trials = TrialsByNode(study);
    for (const TracedRun& run : study.runs) {
      const auto trial = trials.find(run.to.node);
      if (trial == trials.end()) continue;
      const Seconds more = run.held_until - run.held_from - TimeOfWork(run, *trial->second, nodes);
      left.push_back(std::max(Seconds{0}, more));
      const auto [first, is_new] = first_runs.try_emplace({run.server, run.slot}, run.held_from, more);
      if (!is_new && run.held_from < first->second.first) first->second = {run.held_from, more};
    }
  }
  const Seconds usual = MedianOf(std::move(left));
  sim::Durations durations{.network = Seconds(0.0005),
                           .commit = Seconds(0.001),
                           .upload = Seconds(0.002),
                           .fetch = Seconds(0.001),
                           .start_worker = Seconds{0},
                           .set_up = Seconds{0},
                           .load = Seconds{0},
                           .train = Seconds{0},
                           .evaluate = Seconds{0},
                           .save = Seconds{0},
                           .reply = Seconds(0.0002)};
  for (const auto& [slot, first] : first_runs) {
    durations.start_worker = std::max(durations.start_worker, first.second - usual);
  }
  return durations;
}

Result<Replay> ReplayOf(const Trace& trace) {
  Replay replay;
  replay.durations = DurationsOf(trace);
  replay.lead = replay.durations.start_worker + kUntilServersServe;
  for (const TracedServer& server : trace.servers) {
    replay.servers.push_back({.slots = server.slots, .name = server.name});
    if (server.gone) replay.servers.back().goes_at = *server.gone + replay.lead;
  }
  for (const TracedStudy& study : trace.studies) {
    Result<sim::StudyToSimulate> replayed = StudyOf(study);
    if (!replayed.has_value()) return tl::unexpected(OfStudy(study, replayed.error()));
    const Result<void> recorded = Record(study, replayed->specification, replay.recorded);
    if (!recorded.has_value()) return tl::unexpected(OfStudy(study, recorded.error()));
    replayed->arrives_at = study.arrived + replay.lead;
    replay.studies.push_back(*std::move(replayed));
  }
  return replay;
}

}  // namespace espalier
