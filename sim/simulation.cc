#include "sim/simulation.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "sim/again.h"
#include "sim/verdict.h"
#include "sim/watch.h"

namespace espalier::sim {
namespace {

class Simulation {
 public:
  Simulation(std::uint64_t seed, const SimulationSettings& settings);

  Outcome Run();

 private:
  MasterProcess::Watcher WatcherOfMaster();
  Network::MasterSide MasterSide();
  void Carry(const master::Effect& effect);
  std::string Unsettled() const;
  std::string FindBroken() const;

  const SimulationSettings settings_;
  const std::uint64_t seed_;
  World world_;
  std::unique_ptr<Policy> policy_;
  CheckpointFiles files_;
  Network network_;
  MasterProcess master_;
  Watch watch_;
  Users users_;
  std::vector<std::unique_ptr<NodeProcess>> nodes_;
  std::unique_ptr<Faults> faults_;
  Deeds deeds_;
  Again again_;
  std::int64_t trained_steps_ = 0;
  std::set<std::pair<std::uint64_t, Step>> unique_steps_;
};

std::unique_ptr<Policy> CriticalPath() {
  Result<std::unique_ptr<Policy>> policy = MakePolicy("critical_path");
  ESPALIER_CHECK(policy.has_value());
  return std::move(*policy);
}

Simulation::Simulation(std::uint64_t seed, const SimulationSettings& settings)
    : settings_(settings),
      seed_(seed),
      world_(seed, settings.trace_line_count_max),
      policy_(CriticalPath()),
      files_(world_.clock),
      network_(world_),
      master_(world_, WatcherOfMaster(), *policy_),
      watch_(world_, master_.stored()),
      users_(world_, settings.users, [this](master::Event call) { master_.Post(std::move(call)); }) {
  network_.Serve(MasterSide());
  Faults::Parts parts{.master = master_, .network = network_, .files = files_, .nodes = {}};
  for (int server = 0; server < settings.server_count; ++server) {
    const NodeProcess::Watcher watcher{
        .trained =
            [this](const TrainedStep& trained) {
              ++trained_steps_;
              deeds_.trained[trained.run.run].insert(trained.step);
              watch_.OnTrained(trained.run.run, trained.step);
              again_.OnTrained(master_.stored().runs.at(trained.run.run).plan, trained, world_.clock.now());
              unique_steps_.insert({trained.after, trained.step});
            },
        .struck =
            [this](const NodeProcess::Blow& blow) {
              const PlanId plan = master_.stored().runs.at(blow.run.run).plan;
              ++(blow.evaluates ? deeds_.struck_in_evaluation : deeds_.struck_in_training)[{plan, blow.state}];
            },
        .acknowledged = [this](const std::vector<Report>& reports) { watch_.OnAcknowledged(reports); }};
    nodes_.push_back(std::make_unique<NodeProcess>(world_, network_, files_, server, settings.slot_count, watcher));
    parts.nodes.push_back(nodes_.back().get());
    if (settings.fault_count == 0) nodes_.back()->Install(OfferOf(1, 0));
  }
  faults_ = std::make_unique<Faults>(world_, parts);
}

MasterProcess::Watcher Simulation::WatcherOfMaster() {
  return {
      .decided =
          [this](const master::Event& event, const master::Transition& transition, const master::MasterState& state) {
            watch_.OnDecided(event, transition, state, master_.settings().lease);
            again_.OnDecided(transition, world_.clock.now());
          },
      .stored = [this](const master::StateEdit& edit) { watch_.OnStored(edit); },
      .released = [this](const master::Effect& effect) { Carry(effect); },
      .loaded = [this](const master::MasterState& state) { watch_.OnLoaded(state); }};
}

Network::MasterSide Simulation::MasterSide() {
  return {.accepts = [this] { return master_.runs(); },
          .on_message =
              [this](master::NodeMessage message) {
                watch_.OnPosted(message);
                master_.Post(std::move(message));
              },
          .on_gone = [this](master::SessionId session) { master_.Post(master::NodeGone{.session = session}); }};
}

void Simulation::Carry(const master::Effect& effect) {
  watch_.OnReleased(effect);
  if (const auto* reply = std::get_if<master::Reply>(&effect)) users_.OnReply(*reply);
  if (const auto* send = std::get_if<master::SendOrders>(&effect)) network_.ToNode(send->session, send->orders);
  if (const auto* end = std::get_if<master::EndSession>(&effect)) network_.End(end->session);
}

std::string Simulation::Unsettled() const {
  if (!users_.AreDone()) return std::to_string(users_.waiting_count()) + " calls are not answered";
  if (std::string unsettled = FindUnsettled(master_.stored()); !unsettled.empty()) return unsettled;
  for (const auto& node : nodes_) {
    if (!node->IsQuiet()) return node->name() + " is not at rest";
  }
  return {};
}

std::string Simulation::FindBroken() const {
  if (world_.broken_law) return *world_.broken_law;
  const master::MasterState& stored = master_.stored();
  if (std::string unsettled = Unsettled(); !unsettled.empty()) {
    return "once faults are over everything is settled: " + unsettled;
  }
  if (std::string wrong = FindWrongResult(stored, watch_, deeds_); !wrong.empty()) return wrong;
  if (std::string wrong = FindWrongLog(stored, deeds_); !wrong.empty()) return wrong;
  if (std::string attempts = FindTooManyAttempts(deeds_); !attempts.empty()) return attempts;
  if (settings_.fault_count == 0) {
    const Durations& durations = world_.durations;
    // A decision is committed behind another, and carried to the node; and a step is begun before it is trained.
    const Seconds to_node = 3 * durations.commit + 4 * durations.network + 2 * durations.train + Seconds(0.5);
    if (std::string again = again_.FindNeedless(stored, to_node); !again.empty()) return again;
  }
  if (std::string waste = FindWaste(stored, world_.clock.time()); !waste.empty()) return waste;
  return FindRunLoop(stored, faults_->count());
}

Outcome Simulation::Run() {
  constexpr Seconds kLook{5};
  master_.Start();
  for (const auto& node : nodes_) node->Start();
  users_.Begin();
  if (settings_.fault_count > 0) faults_->Plan(settings_.fault_count, Seconds(20), settings_.faults_until);
  Seconds look = settings_.faults_until;
  while (!world_.broken_law) {
    if (world_.clock.RunNext(look)) continue;
    if (look >= settings_.rest_until || Unsettled().empty()) break;
    look += kLook;
  }
  Outcome outcome{.seed = seed_,
                  .broken_law = FindBroken(),
                  .trace = {},
                  .settled_at = world_.clock.now(),
                  .trial_count = std::ssize(master_.stored().trials),
                  .run_count = std::ssize(master_.stored().runs),
                  .trained_steps = trained_steps_,
                  .unique_steps = std::ssize(unique_steps_),
                  .changes_max = watch_.changes_max(),
                  .faults = faults_->kinds()};
  outcome.trace.assign(world_.trace.lines().begin(), world_.trace.lines().end());
  return outcome;
}

}  // namespace

SimulationSettings WithoutFaults() {
  return {.fault_count = 0,
          .users = {.trial_count = 30,
                    .arrivals_until = Seconds(300),
                    .finish_from = Seconds(400),
                    .study_count_min = 1,
                    .study_count_max = 1,
                    .mishaps = false},
          .faults_until = Seconds(400)};
}

Outcome Simulate(std::uint64_t seed, const SimulationSettings& settings) { return Simulation(seed, settings).Run(); }

}  // namespace espalier::sim
