#include "sim/watch.h"

#include <algorithm>
#include <bit>

namespace espalier::sim {
namespace {

// What one event may change: something for itself, and for each thing that it names.
constexpr std::size_t kChangesOfAnEvent = 100;
constexpr std::size_t kChangesOfAPart = 40;

std::size_t PartsOf(const master::Event& event) {
  if (const auto* call = std::get_if<master::ClientCall>(&event)) {
    const auto* submit = std::get_if<master::SubmitBatch>(&call->what);
    return submit == nullptr ? 0 : submit->new_trials.size() + submit->claims.size();
  }
  if (const auto* message = std::get_if<master::NodeMessage>(&event)) {
    return message->reports.size() + message->runs.size();
  }
  return 0;
}

// But for metrics, which may not be numbers.
bool SameEvent(StudyEvent a, StudyEvent b) {
  for (StudyEvent* event : {&a, &b}) {
    if (auto* settled = std::get_if<ClaimSettled>(event)) settled->metrics.clear();
  }
  return a == b;
}

// Where the event says that a checkpoint's file is missing or damaged.
std::set<Point> SaidLostIn(const master::Event& event) {
  std::set<Point> lost;
  const auto* message = std::get_if<master::NodeMessage>(&event);
  if (message == nullptr) return lost;
  for (const Report& report : message->reports) {
    if (const auto* start = std::get_if<StartUnusable>(&report.kind)) lost.insert(start->point);
  }
  return lost;
}

std::string Text(Point point) {
  return "node " + std::to_string(point.node.value) + " step " + std::to_string(point.step.value);
}

}  // namespace

void Watch::OnLoaded(const master::MasterState& state) {
  ledger_.Load(state);
  servers_.clear();
  heard_.clear();
  next_event_.clear();
  for (const auto& [study, events] : state.events) next_event_[study] = std::ssize(events) + 1;
}

void Watch::OnDecided(const master::Event& event, const master::Transition& transition,
                      const master::MasterState& state, Seconds lease) {
  for (const master::StateChange& change : transition.edit) {
    world_.Tell([&] { return "  " + master::Print(change); });
  }
  const std::string wrong = ledger_.Enter(state, transition.edit, SaidLostIn(event));
  if (!wrong.empty()) world_.Broken(wrong);
  for (const master::Effect& effect : transition.effects) {
    if (const auto* line = std::get_if<LogLine>(&effect)) {
      world_.Tell([&] { return "  log: " + Print(*line); });
    }
  }
  CheckSlots(transition, state);
  CheckPromises(transition, state);
  CheckSavesUnderWay(event, transition, state);
  NoteAnswers(transition);
  CheckCost(event, transition);
  CheckLeases(event, transition, lease);
}

// Of the slots that a run is given.
void Watch::CheckSlots(const master::Transition& transition, const master::MasterState& state) {
  for (const master::StateChange& change : transition.edit) {
    const auto* added = std::get_if<master::AddRun>(&change);
    if (added == nullptr) continue;
    const master::Run& run = added->run;
    if (state.drains.contains(run.slot.server)) {
      world_.Broken("a server that is drained is given no run: run " + std::to_string(run.id.value) + " on " +
                    run.slot.server);
    }
    Reserved others;
    for (const RunId id : master::ActiveRunsOf(state, run.slot.server)) {
      const master::Run& other = state.runs.at(id);
      if (id == run.id || !other.training() || other.incarnation != run.incarnation) continue;
      if (other.reservation.device == run.reservation.device) others.Add(other.reservation);
      if (other.slot != run.slot) continue;
      world_.Broken("no slot is given to two runs: runs " + std::to_string(run.id.value) + " and " +
                    std::to_string(id.value));
    }
    const std::vector<Device>& devices = state.servers.at(run.slot.server).devices;
    if (FitsBeside(devices.at(static_cast<std::size_t>(run.reservation.device)), others, run.reservation)) continue;
    world_.Broken("no more of a device is given to runs than it has: run " + std::to_string(run.id.value));
  }
}

// Of what is known of the runner: its node manager may know better.
void Watch::CheckPromises(const master::Transition& transition, const master::MasterState& state) {
  for (const master::StateChange& change : transition.edit) {
    const auto* made = std::get_if<master::MakePromise>(&change);
    if (made == nullptr) continue;
    const master::Run& run = state.runs.at(made->run);
    if (!run.training() || made->promise.step >= run.at()) continue;
    world_.Broken("no run promises what it has passed: run " + std::to_string(run.id.value) + " at step " +
                  std::to_string(made->promise.step.value));
  }
}

// A run that stops, preempted or at its end, says which states are on their way to the store.
void Watch::CheckSavesUnderWay(const master::Event& event, const master::Transition& transition,
                               const master::MasterState& state) {
  const auto* message = std::get_if<master::NodeMessage>(&event);
  if (message == nullptr) return;
  for (const Report& report : message->reports) {
    const auto* ended = std::get_if<RunEnded>(&report.kind);
    const bool stopped = std::any_of(transition.edit.begin(), transition.edit.end(), [&](const auto& change) {
      const auto* set = std::get_if<master::SetRunState>(&change);
      return set != nullptr && set->run == report.run.run;
    });
    if (ended == nullptr || !stopped) continue;
    const master::Run& run = state.runs.at(report.run.run);
    for (const Step step : ended->saves_under_way) {
      const bool promised = std::any_of(run.promises.begin(), run.promises.end(), [&](const auto& entry) {
        return entry.second.step == step && entry.second.owed == Owed::kState;
      });
      if (promised) continue;
      world_.Broken("what a run saves as it stops is promised: run " + std::to_string(run.id.value) + " at step " +
                    std::to_string(step.value));
    }
  }
}

void Watch::NoteAnswers(const master::Transition& transition) {
  std::set<ClaimId> made;
  for (const master::StateChange& change : transition.edit) {
    const auto* plan = std::get_if<master::ChangePlan>(&change);
    if (plan == nullptr) continue;
    if (const auto* add = std::get_if<AddClaim>(&plan->change)) {
      made.insert(add->claim.id);
      answered_at_once_.erase(add->claim.id);  // of a decision that was dropped
    }
    const auto* settle = std::get_if<SettleClaim>(&plan->change);
    if (settle != nullptr && made.contains(settle->claim)) answered_at_once_.insert(settle->claim);
  }
}

void Watch::CheckCost(const master::Event& event, const master::Transition& transition) {
  changes_max_ = std::max(changes_max_, transition.edit.size());
  if (transition.edit.size() <= kChangesOfAnEvent + kChangesOfAPart * PartsOf(event)) return;
  world_.Broken("an event changes little: one made " + std::to_string(transition.edit.size()) + " changes");
}

void Watch::OnPosted(const master::NodeMessage& message) {
  if (message.registration) servers_[message.session] = message.registration->server;
  for (const Report& report : message.reports) {
    if (const auto* ended = std::get_if<RunEnded>(&report.kind)) held_.emplace(report.run.run, ended->slot_time);
  }
  const auto server = servers_.find(message.session);
  if (server != servers_.end()) heard_[server->second].insert(world_.clock.moment());
}

void Watch::CheckLeases(const master::Event& event, const master::Transition& transition, Seconds lease) {
  const auto* tick = std::get_if<master::Tick>(&event);
  for (const master::StateChange& change : transition.edit) {
    const auto* removed = std::get_if<master::RemoveServer>(&change);
    if (removed == nullptr) continue;
    const std::set<Moment>& heard = heard_[removed->name];
    if (tick != nullptr && heard.lower_bound(tick->heard_until - lease) == heard.upper_bound(tick->heard_until))
      continue;
    world_.Broken("a server whose messages arrive within its lease is not lost: " + removed->name);
  }
}

void Watch::OnStored(const master::StateEdit& edit) {
  for (const master::StateChange& change : edit) {
    if (const auto* series = std::get_if<master::AddTrainingMetrics>(&change)) NoteSeries(*series);
    const auto* plan = std::get_if<master::ChangePlan>(&change);
    if (plan == nullptr) continue;
    if (const auto* set = std::get_if<SetCheckpoint>(&plan->change)) had_checkpoint_.insert(set->point);
    if (const auto* drop = std::get_if<DropCheckpoint>(&plan->change)) dropped_.insert(drop->point);
  }
}

// Who trained a step, and how often, does not show in what it returned.
void Watch::NoteSeries(const master::AddTrainingMetrics& added) {
  const auto& [names, steps, values] = added.series;
  const auto loss = std::ranges::find(names, "loss") - names.begin();
  for (std::size_t at = 0; at < steps.size(); ++at) {
    const auto bits = std::bit_cast<std::uint64_t>(values.at(at * names.size() + static_cast<std::size_t>(loss)));
    const auto [known, is_new] = losses_.emplace(std::pair(added.node, steps[at]), bits);
    if (known->second == bits) continue;
    world_.Broken("a step's training metrics are the same whoever trained it: node " +
                  std::to_string(added.node.value) + " step " + std::to_string(steps[at].value));
  }
}

void Watch::OnReleased(const master::Effect& effect) {
  std::visit([this](const auto& each) { Check(each); }, effect);
}

void Watch::Check(const master::Reply& reply) {
  bool durable = true;
  if (const auto* created = std::get_if<master::StudyCreated>(&reply.answer)) {
    durable = stored_.studies.contains(created->study);
  }
  if (const auto* submitted = std::get_if<master::Submitted>(&reply.answer)) {
    for (const TrialId trial : submitted->trials) durable &= stored_.trials.contains(trial);
    for (const ClaimId claim : submitted->claims) durable &= stored_.plan_by_claim.contains(claim);
  }
  if (!durable) world_.Broken("no answer leaves before what it says is stored");
}

void Watch::Check(const master::SendOrders& send) {
  for (const Order& order : send.orders.orders) {
    const auto run = stored_.runs.find(order.run.run);
    bool durable = run != stored_.runs.end() && run->second.generation >= order.terms.generation;
    for (const OrderedPromise& promise : order.terms.promises) {
      durable = durable && run->second.promises.contains(promise.id);
    }
    if (!durable) world_.Broken("no order leaves before its run and its promises are stored");
  }
}

void Watch::Check(const master::EventsAdded& added) {
  auto [next, is_new] = next_event_.try_emplace(added.study, 1);
  if (added.first != next->second) world_.Broken("a study's events are announced in order, without a gap");
  next->second += std::ssize(added.events);
  const auto stored = stored_.events.find(added.study);
  const bool durable =
      stored != stored_.events.end() && next->second - 1 <= std::ssize(stored->second) &&
      std::equal(added.events.begin(), added.events.end(), stored->second.begin() + (added.first - 1), SameEvent);
  if (!durable) world_.Broken("no event is announced before it is stored");
}

void Watch::OnTrained(RunId id, Step step, std::optional<Seconds> to_node) {
  const auto run = stored_.runs.find(id);
  if (run == stored_.runs.end()) return world_.Broken("no run is begun before it is stored");
  const auto& promises = run->second.promises;
  const auto is_withdrawn = [&](const master::Promise& promise) {
    if (!to_node || promise.state != master::PromiseState::kWithdrawn) return false;
    return world_.clock.time() - promise.settled_at.value() > *to_node;
  };
  const bool needed = std::any_of(promises.begin(), promises.end(), [&](const auto& entry) {
    return entry.second.step >= step && !is_withdrawn(entry.second);
  });
  if (!trained_.insert({id, step}).second) world_.Broken("no run trains a step twice: run " + std::to_string(id.value));
  if (!needed) world_.Broken("no run goes further than what it promised: run " + std::to_string(id.value));
}

void Watch::OnFinished(RunId id) {
  std::erase_if(trained_, [&](const auto& trained) { return trained.first == id; });
}

bool Watch::IsDurable(const Report& report) const {
  if (const auto* measured = std::get_if<MetricsMeasured>(&report.kind)) {
    const SearchPlan& plan = stored_.plans.at(measured->plan);
    return plan.FindMetrics(measured->point, measured->evaluation) != nullptr;
  }
  if (const auto* state = std::get_if<StateStored>(&report.kind)) return had_checkpoint_.contains(state->point);
  if (const auto* metrics = std::get_if<TrainingMetrics>(&report.kind)) {
    return std::ranges::all_of(metrics->series.steps, [&](Step step) { return HasSeries(metrics->node, step); });
  }
  if (const auto* trained = std::get_if<StepsTrained>(&report.kind)) {
    const SearchPlan& plan = stored_.plans.at(stored_.runs.at(report.run.run).plan);
    const std::vector<TrainedRange>& ranges = plan.Node(trained->node).results->trained;
    return std::any_of(ranges.begin(), ranges.end(), [&](const TrainedRange& range) {
      return range.run == report.run.run && range.from <= trained->from && trained->to <= range.to;
    });
  }
  return true;
}

void Watch::OnAcknowledged(const std::vector<Report>& reports) {
  for (const Report& report : reports) {
    if (IsDurable(report)) continue;
    const auto* state = std::get_if<StateStored>(&report.kind);
    world_.Broken("an acknowledged report is stored: report " + std::to_string(report.number) + " of run " +
                  std::to_string(report.run.run.value) + (state == nullptr ? "" : ", " + Text(state->point)));
  }
}

}  // namespace espalier::sim
