// The whole service in virtual time (sim/service.h) as a test uses it: Ann's calls are answered, servers train by
// themselves, and the test waits for what it wants to see. Nothing goes wrong but what the test makes go wrong. After
// each decision of the master that changes something DecisionChecks look on. One thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "scheduler/policy.h"
#include "sim/service.h"
#include "tests/support/called_master.h"
#include "tests/support/decision_checks.h"

namespace espalier::master {

// A step takes a tenth of a second, and nothing else takes longer.
inline constexpr sim::Durations kShort{.network = Seconds(0.001),
                                       .commit = Seconds(0.001),
                                       .upload = Seconds(0.01),
                                       .fetch = Seconds(0.01),
                                       .start_worker = Seconds(0.1),
                                       .set_up = Seconds(0.01),
                                       .load = Seconds(0.01),
                                       .train = Seconds(0.1),
                                       .evaluate = Seconds(0.05),
                                       .save = Seconds(0.01),
                                       .analyse = Seconds(0.2)};

struct SimulatedSettings {
  int servers = 1;
  int slots = 2;  // of each
  std::string policy{kDefaultPolicy};
  bool policy_forgets = false;  // it begins anew with each event
  std::uint64_t seed = 1;
  std::optional<sim::Durations> durations = kShort;  // none: drawn by the seed (sim/world.h)
};

class SimulatedService : public CalledMaster {
 public:
  // The servers have registered.
  explicit SimulatedService(const SimulatedSettings& settings = {});
  ~SimulatedService();

  // REQUIRES: the master has loaded.
  const MasterState& state() const override { return service_.master().memory(); }

  void Ask(ClientCall call) override;

  // Lets virtual time pass until `condition` holds; fails the test if it does not within an hour.
  void RunUntil(const std::function<bool()>& condition);
  // Until no claim waits, nothing is trained, and nothing is on its way.
  void RunToRest();
  void RunFor(Seconds time);

  // The first worker that is at work on a run dies, and it is its own fault. False: there is none.
  bool CrashAWorker();
  // Its node manager is killed, and a new incarnation starts. The master has not heard of it yet.
  void RestartServer(std::size_t server);
  // Every server offers this instead of what it offered, and trains by it alone.
  void Install(const Offer& offer);
  // Returns once it has loaded.
  void RestartMaster();

  std::map<std::pair<PlanNodeId, Step>, int> trained;  // how often each step (the step reached) was trained
  std::int64_t steps_trained = 0;

 private:
  sim::Service::Watcher Watcher();
  void OnTrained(const sim::TrainedStep& step);
  bool IsAtRest() const;
  std::string Told() const;

  sim::World world_;
  DecisionChecks checks_;
  sim::Service service_;
  std::int64_t calls_ = 0;
  std::optional<CallId> answered_;
};

}  // namespace espalier::master
