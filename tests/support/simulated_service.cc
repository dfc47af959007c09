#include "tests/support/simulated_service.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace espalier::master {
namespace {

constexpr std::size_t kTraceLinesMax = 60;

sim::World WorldOf(const SimulatedSettings& settings) {
  sim::World world(settings.seed, kTraceLinesMax);
  if (settings.durations) world.durations = *settings.durations;
  return world;
}

}  // namespace

SimulatedService::SimulatedService(const SimulatedSettings& settings)
    : world_(WorldOf(settings)),
      service_(world_,
               {.servers = std::vector<sim::SimulatedServer>(static_cast<std::size_t>(settings.servers),
                                                             {.slots = settings.slots}),
                .offers = {kSimulated},
                .master = {.first_policy = settings.policy}},
               Watcher()) {
  if (settings.policy_forgets) service_.policy().ForgetWithEachEvent();
  service_.Start();
  RunUntil([&] { return std::ssize(state().servers) == settings.servers; });
}

SimulatedService::~SimulatedService() = default;

sim::Service::Watcher SimulatedService::Watcher() {
  const sim::MasterProcess::Watcher master{
      .decided =
          [this](const Event&, const Transition& transition, const MasterState& state) {
            for (const StateChange& change : transition.edit) world_.Tell([&] { return "  " + Print(change); });
            if (!transition.edit.empty()) checks_.OnDecided(transition, state);
          },
      .stored = [](const auto&) {},
      .released =
          [this](const Effect& effect) {
            const auto* reply = std::get_if<Reply>(&effect);
            if (reply == nullptr) return;
            last_reply = *reply;
            answered_ = reply->call;
          },
      .loaded = [this](const MasterState& state) { checks_.OnLoaded(state); }};
  const sim::NodeProcess::Watcher node{.trained = [this](const sim::TrainedStep& step) { OnTrained(step); },
                                       .returned = [](const auto&) {},
                                       .struck = [](const auto&) {},
                                       .refused = [](const auto&) {},
                                       .acknowledged = [](const auto&) {}};
  return {.master = master, .node = node, .arrived = [](const auto&) {}};
}

void SimulatedService::OnTrained(const sim::TrainedStep& step) {
  const Point point = PointOf(service_.stored().runs.at(step.run.run), step.step);
  ++trained[{point.node, point.step}];
  ++steps_trained;
}

void SimulatedService::Ask(ClientCall call) {
  call.call = CallId{++calls_};
  service_.master().Post(call);
  RunUntil([&] { return answered_ == call.call; });
}

void SimulatedService::RunUntil(const std::function<bool()>& condition) {
  const Seconds until = world_.clock.now() + std::chrono::hours(1);
  while (!condition()) {
    if (!world_.clock.RunNext(until)) FAIL("it does not come to pass:\n" << Told());
    if (world_.broken_law) FAIL(Told());
  }
}

void SimulatedService::RunToRest() {
  RunUntil([this] { return IsAtRest(); });
}

void SimulatedService::RunFor(Seconds time) {
  const Seconds until = world_.clock.now() + time;
  while (world_.clock.RunNext(until)) {
  }
}

bool SimulatedService::IsAtRest() const {
  const bool waits = std::any_of(state().plans.begin(), state().plans.end(),
                                 [](const auto& plan) { return !plan.second.waiting.empty(); });
  return !waits && state().active_runs.empty() && state().analyses.empty() &&
         std::all_of(service_.nodes().begin(), service_.nodes().end(),
                     [](const auto& node) { return node->IsQuiet(); });
}

bool SimulatedService::CrashAWorker() {
  for (const auto& node : service_.nodes()) {
    for (int slot = 0; slot < node->slot_count(); ++slot) {
      if (node->CrashWorker(slot, false)) return true;
    }
  }
  return false;
}

void SimulatedService::RestartServer(std::size_t server) {
  sim::NodeProcess& node = *service_.nodes().at(server);
  node.Kill();
  node.Start();
}

void SimulatedService::Install(const Offer& offer) {
  for (std::size_t server = 0; server < service_.nodes().size(); ++server) {
    service_.nodes()[server]->Install({offer});
    RestartServer(server);
  }
  RunUntil([&] {
    return std::ranges::all_of(state().servers, [&](const auto& entry) {
      return entry.second.session && entry.second.offers.contains(TrainerDigest(offer));
    });
  });
}

void SimulatedService::RestartMaster() {
  service_.master().Kill();
  service_.network().EndAll();
  service_.master().Start();
  RunUntil([this] { return service_.master().has_loaded(); });
}

std::string SimulatedService::Told() const {
  std::string told = world_.broken_law.value_or("");
  for (const std::string& line : world_.trace.lines()) told += "\n" + line;
  return told;
}

}  // namespace espalier::master
