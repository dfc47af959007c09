#include "sim/simulated_studies.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "master/core/views/makespan_bound.h"
#include "master/core/views/steps_of_study.h"

namespace espalier::sim {
namespace {

constexpr Seconds kMonth{30 * 86400};

World WorldOf(const ServiceToSimulate& service) {
  World world(service.seed, 0);
  world.durations = service.durations;
  // Of steps that take longer, a server's news need not be as new; leases bear more.
  world.nodes_tick_every = std::clamp(service.durations.train / 20, world.nodes_tick_every, Seconds(3));
  world.measures = &service.measures;
  return world;
}

// One for each trainer and its data, with all metrics that studies go by.
std::vector<Offer> OffersFor(const std::vector<StudyToSimulate>& studies) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> metrics;
  for (const StudyToSimulate& study : studies) {
    metrics[{study.specification.trainer, study.specification.data}].insert(study.specification.metric);
  }
  std::vector<Offer> offers;
  for (const auto& [trainer, names] : metrics) {
    offers.push_back(FormulaOffer(trainer.first, trainer.second, {names.begin(), names.end()}));
  }
  return offers;
}

class SimulationOfStudies {
 public:
  SimulationOfStudies(const ServiceToSimulate& service, const std::vector<StudyToSimulate>& studies);

  Result<SimulatedStudies> Run(std::size_t* at);

 private:
  Service::Watcher WatcherOfService();
  // From time to time; one that trains nothing is spared.
  void FailWorkerOf(NodeProcess& node, int slot);
  void OnTrained(const TrainedStep& step);
  void OnDecided(const master::StateChange& change);
  void OnReply(const master::Reply& reply);
  void OnEvents(const master::EventsAdded& added);
  bool AreFinished() const;
  SimulatedStudies Finished() const;
  std::vector<SimulatedRun> Runs() const;

  const std::optional<Seconds> failures_every_;  // of a slot; none: never
  const std::function<void(std::size_t, Step, Seconds)> on_trained_;
  const std::function<void(const Metrics&, Seconds)> on_measured_;
  std::int64_t trained_ = 0;  // steps
  std::int64_t saved_ = 0;    // states
  bool is_heard_ = false;     // some study has heard of something, since it was last asked what has become of them
  World world_;
  Service service_;
  std::deque<TunedStudy> studies_;
};

SimulationOfStudies::SimulationOfStudies(const ServiceToSimulate& service, const std::vector<StudyToSimulate>& studies)
    : failures_every_(service.workers_fail ? std::optional(service.between_failures) : std::nullopt),
      on_trained_(service.trained),
      on_measured_(service.measured),
      world_(WorldOf(service)),
      service_(world_,
               {.servers = service.servers,
                .offers = OffersFor(studies),
                .master = {.first_policy = service.policy,
                           .between_failures = service.between_failures,
                           .save_every_steps = service.save_every_steps,
                           .starts_again = false}},
               WatcherOfService()) {
  for (const StudyToSimulate& study : studies) {
    const auto& speeds = study.specification.policy.speeds;
    if (!speeds.empty()) world_.speeds.try_emplace(study.specification.trainer, speeds);
    studies_.emplace_back(world_, study, std::ssize(studies_),
                          [this](master::Event call) { service_.master().Post(std::move(call)); });
  }
}

Service::Watcher SimulationOfStudies::WatcherOfService() {
  const auto on_released = [this](const master::Effect& effect) {
    if (const auto* reply = std::get_if<master::Reply>(&effect)) {
      world_.clock.After(world_.durations.network, [this, reply = *reply] { OnReply(reply); });
    }
    if (const auto* added = std::get_if<master::EventsAdded>(&effect)) {
      world_.clock.After(world_.durations.network, [this, added = *added] { OnEvents(added); });
    }
  };
  const auto on_decided = [this](const master::Event&, const master::Transition& transition, const auto&) {
    for (const master::StateChange& change : transition.edit) OnDecided(change);
  };
  return {
      .master = {
          .decided = on_decided, .stored = [](const auto&) {}, .released = on_released, .loaded = [](const auto&) {}},
      .node = {.trained = [this](const TrainedStep& step) { OnTrained(step); },
               .returned = [](const auto&) {},
               .struck = [](const auto&) {},
               .refused = [](const auto&) {},
               .acknowledged = [](const auto&) {}},
      .arrived = [](const auto&) {}};
}

// Poisson's process.
void SimulationOfStudies::FailWorkerOf(NodeProcess& node, int slot) {
  const Seconds until = -std::log(1 - world_.chance.Share()) * *failures_every_;
  world_.clock.After(until, [this, &node, slot] {
    node.CrashWorker(slot, /*by_sigkill=*/true);
    FailWorkerOf(node, slot);
  });
}

void SimulationOfStudies::OnTrained(const TrainedStep& step) {
  ++trained_;
  if (!on_trained_) return;
  const std::vector<StudyId>& serves = service_.master().memory().runs.at(step.run.run).serves;
  for (std::size_t i = 0; i < studies_.size(); ++i) {
    if (std::ranges::binary_search(serves, studies_[i].id())) on_trained_(i, step.step, world_.clock.now());
  }
}

void SimulationOfStudies::OnDecided(const master::StateChange& change) {
  const auto* of_plan = std::get_if<master::ChangePlan>(&change);
  if (of_plan == nullptr) return;
  saved_ += std::holds_alternative<SetCheckpoint>(of_plan->change) ? 1 : 0;
  const auto* measured = std::get_if<AddMetrics>(&of_plan->change);
  if (measured != nullptr && on_measured_) on_measured_(measured->metrics, world_.clock.now());
}

void SimulationOfStudies::OnReply(const master::Reply& reply) {
  is_heard_ = true;
  for (TunedStudy& study : studies_) {
    if (study.Asked(reply)) study.OnReply(reply);
  }
}

void SimulationOfStudies::OnEvents(const master::EventsAdded& added) {
  is_heard_ = true;
  for (TunedStudy& study : studies_) {
    if (study.id() == added.study) study.OnEvents(added.events);
  }
}

bool SimulationOfStudies::AreFinished() const {
  return std::ranges::all_of(studies_, [](const TunedStudy& study) { return study.finished_at().has_value(); });
}

SimulatedStudies SimulationOfStudies::Finished() const {
  const master::MasterState& state = service_.master().memory();
  SimulatedStudies all;
  Seconds begun{std::numeric_limits<double>::max()};
  Seconds ended{0};
  Seconds bound{0};
  StepSet unique;
  for (const TunedStudy& study : studies_) {
    master::StudySummary summary = master::Summarize(state, study.id(), world_.clock.time());
    summary.makespan_bound = master::MakespanBound(state, state.studies.at(study.id()));
    begun = std::min(begun, study.arrived_at());
    ended = std::max(ended, *study.finished_at());
    bound = std::max(bound, study.arrived_at() + summary.makespan_bound);
    all.slot_time += summary.use.device;
    all.steps.claimed += summary.steps.claimed;
    for (const StepRange& range : master::UniqueSteps(state, study.id()).Ranges()) unique.Add(range);
    all.studies.push_back({*study.finished_at() - study.arrived_at(), std::move(summary), study.events()});
  }
  all.runs = Runs();
  all.estimated = world_.estimated;
  all.steps.unique = unique.Count();
  all.steps.trained = trained_;
  all.steps.saved = saved_;
  all.end_to_end = ended - begun;
  all.bound = bound - begun;
  return all;
}

std::vector<SimulatedRun> SimulationOfStudies::Runs() const {
  const master::MasterState& state = service_.master().memory();
  std::map<StudyId, std::size_t> places;
  for (std::size_t i = 0; i < studies_.size(); ++i) places.emplace(studies_[i].id(), i);
  const Time now = world_.clock.time();
  const auto since_begin = [&](Time time) { return world_.clock.now() - Seconds(now - time); };
  std::vector<SimulatedRun> runs;
  for (const auto& [id, run] : state.runs) {
    SimulatedRun& held = runs.emplace_back(SimulatedRun{.slot = run.slot, .slots = run.slots});
    held.held_from = since_begin(run.ordered_at);
    held.held_until = since_begin(run.training() ? now : run.charged_to);
    for (const auto& [study, microseconds] : run.charges) {
      held.charged[places.at(study)] = Seconds(static_cast<double>(microseconds) * 1e-6);
    }
  }
  return runs;
}

Result<SimulatedStudies> SimulationOfStudies::Run(std::size_t* at) {
  service_.Start();
  for (TunedStudy& study : studies_) study.Begin();
  for (const auto& node : service_.nodes()) {
    for (int slot = 0; failures_every_ && slot < node->slot_count(); ++slot) FailWorkerOf(*node, slot);
    if (node->goes_at()) world_.clock.After(*node->goes_at(), [&server = *node] { server.Kill(); });
  }
  while (!AreFinished()) {
    for (is_heard_ = false; !is_heard_;) {
      if (world_.clock.RunNext(kMonth)) continue;
      return MakeError(ErrorCode::kInternal, "the studies are not finished in a month");
    }
    for (std::size_t i = 0; i < studies_.size(); ++i) {
      if (!studies_[i].error()) continue;
      if (at != nullptr) *at = i;
      return tl::unexpected<Error>(*studies_[i].error());
    }
  }
  return Finished();
}

}  // namespace

Result<SimulatedStudies> SimulateStudies(const ServiceToSimulate& service, const std::vector<StudyToSimulate>& studies,
                                         std::size_t* study) {
  return SimulationOfStudies(service, studies).Run(study);
}

Result<SimulatedStudy> SimulateStudy(const ServiceToSimulate& service, const StudyToSimulate& study) {
  ESPALIER_ASSIGN(SimulatedStudies all, SimulateStudies(service, {study}));
  return std::move(all.studies.front());
}

}  // namespace espalier::sim
