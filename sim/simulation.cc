#include "sim/simulation.h"

#include <array>
#include <utility>

#include "sim/again.h"
#include "sim/faults.h"
#include "sim/service.h"
#include "sim/verdict.h"
#include "sim/watch.h"

namespace espalier::sim {
namespace {

// One of them in each simulation, by its seed; in the place of hermes sometimes hermes_pinned.
constexpr std::array<std::string_view, 10> kPolicies{"critical_path",
                                                     "breadth_first",
                                                     "throughput",
                                                     "throughput_children",
                                                     "critical_path_unbatched",
                                                     "critical_path_not_preempting",
                                                     "hermes",
                                                     "round_robin",
                                                     "hypersack",
                                                     "hypersched"};
// With each policy once without a budget for checkpoints and once, where things go wrong, with one of ten states.
constexpr std::array<std::int64_t, 2> kBudgets{0, 10'000};

std::string_view PolicyOf(std::uint64_t seed) {
  const std::string_view policy = kPolicies[seed % kPolicies.size()];
  const bool is_pinned = policy == "hermes" && seed / (kPolicies.size() * kBudgets.size()) % 2 == 1;
  return is_pinned ? "hermes_pinned" : policy;
}

constexpr Seconds kRetireAfter{30};

class Simulation {
 public:
  Simulation(std::uint64_t seed, const SimulationSettings& settings);

  Outcome Run();

 private:
  ServiceSettings SettingsOfService() const;
  Service::Watcher WatcherOfService();
  Faults::Parts PartsOfService();
  void OnStruck(const NodeProcess::Blow& blow);
  void OnTrained(const TrainedStep& trained);
  void OnCall(master::ClientCall call);
  void OnReply(const master::Reply& reply);
  void LookOn();
  // How long a decision takes to show in what is trained, at most, where nothing goes wrong.
  Seconds ToNode() const;
  std::string Unsettled() const;
  std::string FindBroken() const;

  const SimulationSettings settings_;
  const std::uint64_t seed_;
  World world_;
  Service service_;
  Watch watch_;
  Users users_;
  Faults faults_;
  Deeds deeds_;
  Again again_;
  std::map<master::CallId, master::ClientCall> calls_;  // not answered yet
  std::int64_t trained_steps_ = 0;
  std::set<std::pair<std::uint64_t, Step>> unique_steps_;
};

Simulation::Simulation(std::uint64_t seed, const SimulationSettings& settings)
    : settings_(settings),
      seed_(seed),
      world_(seed, settings.trace_line_count_max),
      service_(world_, SettingsOfService(), WatcherOfService()),
      watch_(world_, service_.stored()),
      users_(world_, settings.users, [this](master::ClientCall call) { OnCall(std::move(call)); }),
      faults_(world_, PartsOfService()) {}

ServiceSettings Simulation::SettingsOfService() const {
  return {.servers = std::vector<SimulatedServer>(static_cast<std::size_t>(settings_.server_count),
                                                  {.slots = settings_.slot_count}),
          .offers = {settings_.fault_count == 0 ? OfferOf(1, 0) : OfferOf(1, 1)},
          .master = {
              .first_policy = std::string(PolicyOf(seed_)),
              .checkpoint_bytes = settings_.fault_count == 0 ? 0 : kBudgets[seed_ / kPolicies.size() % kBudgets.size()],
              .retire_after = settings_.fault_count == 0 ? std::nullopt : std::optional(kRetireAfter)}};
}

Faults::Parts Simulation::PartsOfService() {
  Faults::Parts parts{.master = service_.master(),
                      .policy = service_.policy(),
                      .network = service_.network(),
                      .files = service_.files(),
                      .users = users_,
                      .nodes = {}};
  for (const auto& node : service_.nodes()) parts.nodes.push_back(node.get());
  return parts;
}

Service::Watcher Simulation::WatcherOfService() {
  const MasterProcess::Watcher master{
      .decided =
          [this](const master::Event& event, const master::Transition& transition, const master::MasterState& state) {
            watch_.OnDecided(event, transition, state, service_.master().settings().lease);
            again_.OnDecided(transition, world_.clock.now());
          },
      .stored = [this](const master::StateEdit& edit) { watch_.OnStored(edit); },
      .released =
          [this](const master::Effect& effect) {
            watch_.OnReleased(effect);
            if (const auto* reply = std::get_if<master::Reply>(&effect)) OnReply(*reply);
          },
      .loaded = [this](const master::MasterState& state) { watch_.OnLoaded(state); }};
  const NodeProcess::Watcher node{
      .trained = [this](const TrainedStep& trained) { OnTrained(trained); },
      .returned = [this](const TrainedStep& trained) { deeds_.returned[trained.run.run].insert(trained.step); },
      .struck = [this](const NodeProcess::Blow& blow) { OnStruck(blow); },
      .refused = [this](RunKey run) { deeds_.refused.insert(run.run); },
      .acknowledged = [this](const std::vector<Report>& reports) { watch_.OnAcknowledged(reports); }};
  return {master, node, [this](const master::NodeMessage& message) { watch_.OnPosted(message); }};
}

// What only evaluates counts for the evaluation from the beginning on, before the state is loaded, too.
void Simulation::OnStruck(const NodeProcess::Blow& blow) {
  const master::Run& run = service_.stored().runs.at(blow.run.run);
  if (!run.path.empty()) {
    ++(blow.evaluates ? deeds_.struck_in_evaluation : deeds_.struck_in_training)[{run.plan, blow.state}];
    return;
  }
  const Result<StateFile> file = service_.files().Fetch(run.start_file);
  ++deeds_.struck_in_evaluation[{run.plan, file.has_value() ? file->state : blow.state}];
}

void Simulation::OnCall(master::ClientCall call) {
  calls_.insert_or_assign(call.call, call);
  service_.master().Post(std::move(call));
}

// As the front door does, calls are posted again with what they need of a study that is retired.
void Simulation::OnReply(const master::Reply& reply) {
  auto call = calls_.extract(reply.call);
  if (!std::holds_alternative<master::HistoryNeeded>(reply.answer)) return users_.OnReply(reply);
  if (!call) return world_.Broken("each call is answered at most once");
  call.mapped().recalled.emplace();
  std::visit(
      [&](auto& what) {
        if constexpr (requires { what.study; }) {
          const auto answered = service_.stored().requests.find({what.study, call.mapped().request_id});
          if (answered != service_.stored().requests.end()) call.mapped().recalled->answer = answered->second;
        }
      },
      call.mapped().what);
  OnCall(std::move(call.mapped()));
}

void Simulation::OnTrained(const TrainedStep& trained) {
  if (trained.is_finished) return watch_.OnFinished(trained.run.run);
  watch_.OnTrained(trained.run.run, trained.step, settings_.fault_count == 0 ? std::optional(ToNode()) : std::nullopt);
  ++trained_steps_;
  deeds_.trained[trained.run.run].insert(trained.step);
  unique_steps_.insert({trained.after, trained.step});
  const auto run = service_.stored().runs.find(trained.run.run);
  if (run != service_.stored().runs.end()) again_.OnTrained(run->second.plan, trained, world_.clock.now());
}

// It is committed behind another, and carried to the node; and a step is begun before it is trained.
Seconds Simulation::ToNode() const {
  const Durations& durations = world_.durations;
  return 3 * durations.commit + 4 * durations.network + 2 * durations.train + Seconds(0.5);
}

// An operator does, now and then.
void Simulation::LookOn() {
  constexpr Seconds kNowAndThen{60};
  users_.Look(service_.stored());
  world_.clock.After(kNowAndThen, [this] { LookOn(); });
}

std::string Simulation::Unsettled() const {
  if (!users_.AreDone()) return std::to_string(users_.waiting_count()) + " calls are not answered";
  if (std::string unsettled = FindUnsettled(service_.stored()); !unsettled.empty()) return unsettled;
  for (const auto& node : service_.nodes()) {
    if (!node->IsQuiet()) return node->name() + " is not at rest";
  }
  return {};
}

std::string Simulation::FindBroken() const {
  if (world_.broken_law) return *world_.broken_law;
  const master::MasterState& stored = service_.stored();
  if (std::string unsettled = Unsettled(); !unsettled.empty()) {
    return "once faults are over everything is settled: " + unsettled;
  }
  if (std::string wrong = FindWrongResult(stored, watch_, deeds_); !wrong.empty()) return wrong;
  if (std::string wrong = FindWrongLog(stored, deeds_); !wrong.empty()) return wrong;
  // A node manager that is killed takes what it has not reported with it.
  const std::set<FaultKind>& faults = faults_.kinds();
  if (!faults.contains(FaultKind::kNodeRestart) && !faults.contains(FaultKind::kServersLostInTurn)) {
    if (std::string missing = FindMissingSeries(stored, watch_, deeds_); !missing.empty()) return missing;
  }
  if (std::string attempts = FindTooManyAttempts(deeds_); !attempts.empty()) return attempts;
  if (settings_.fault_count == 0) {
    if (std::string again = again_.FindNeedless(stored, ToNode()); !again.empty()) return again;
  }
  if (std::string waste = FindWaste(stored, world_.clock.time()); !waste.empty()) return waste;
  const std::optional<Seconds> to_node = settings_.fault_count == 0 ? std::optional(ToNode()) : std::nullopt;
  if (std::string bill = FindWrongBill(stored, watch_, world_.clock.time(), to_node); !bill.empty()) return bill;
  if (std::string usage = FindWrongUsage(stored); !usage.empty()) return usage;
  if (std::string loop = FindRefusalLoop(stored, deeds_); !loop.empty()) return loop;
  return FindRunLoop(stored, deeds_, faults_.count());
}

Outcome Simulation::Run() {
  constexpr Seconds kLook{5};
  service_.Start();
  users_.Begin();
  if (settings_.fault_count > 0) {
    faults_.Plan(settings_.fault_count, Seconds(20), settings_.faults_until);
    LookOn();
  }
  Seconds look = settings_.until;
  while (!world_.broken_law) {
    if (world_.clock.RunNext(look)) continue;
    if (look >= settings_.rest_until || Unsettled().empty()) break;
    look += kLook;
  }
  Outcome outcome{.seed = seed_,
                  .broken_law = FindBroken(),
                  .trace = {},
                  .settled_at = world_.clock.now(),
                  .trial_count = std::ssize(service_.stored().trials),
                  .plan_count = std::ssize(service_.stored().plans),
                  .run_count = std::ssize(service_.stored().runs),
                  .trained_steps = trained_steps_,
                  .unique_steps = std::ssize(unique_steps_),
                  .changes_max = watch_.changes_max(),
                  .fault_count = faults_.count(),
                  .faults = faults_.kinds()};
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
          .until = Seconds(400)};
}

Outcome Simulate(std::uint64_t seed, const SimulationSettings& settings) { return Simulation(seed, settings).Run(); }

}  // namespace espalier::sim
