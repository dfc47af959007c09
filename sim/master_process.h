// The master in virtual time: the real core (React) behind the real rule of what becomes durable and what leaves when
// (GroupCommit), as the real event loop and its commit thread are around them; commits take their time. What is stored
// outlives it. One thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "master/core/reactor.h"
#include "master/loop/group_commit.h"
#include "master/loop/open_calls.h"
#include "sim/memory_state_store.h"
#include "sim/preempting_policy.h"
#include "sim/world.h"

namespace espalier::sim {

class MasterProcess {
 public:
  // Who looks on. `decided` hears of each event with the state after it; `stored` of each edit that is durable;
  // `released` of each effect that leaves, and carries it out; `loaded` of the state that a new process begins with.
  struct Watcher {
    std::function<void(const master::Event&, const master::Transition&, const master::MasterState&)> decided;
    std::function<void(const master::StateEdit&)> stored;
    std::function<void(const master::Effect&)> released;
    std::function<void(const master::MasterState&)> loaded;
  };

  struct Settings {
    std::string first_policy{kDefaultPolicy};  // chosen before it starts for the first time. REQUIRES: known
    std::int64_t checkpoint_bytes = 0;         // the checkpoints' budget; 0: none
    Seconds between_failures{600};             // as in ReactorSettings; with faults, a slot has one about as often
    std::int64_t save_every_steps = 0;         // likewise
    std::optional<Seconds> retire_after = {};  // likewise
    bool starts_again = true;  // false: what is stored is not kept, which saves as much again as memory takes
  };

  MasterProcess(World& world, Watcher watcher, const Settings& settings);

  // A new process with a leadership of its own: it loads, and serves. REQUIRES: it does not run, and is the first or
  // starts again.
  void Start();
  // SIGKILL. A commit under way is stored, or is not.
  void Kill();
  // SIGSTOP: messages wait outside, and are stamped when it goes on.
  void FreezeFor(Seconds time);
  // One event takes so long; what arrives meanwhile is stamped, and waits.
  void StallFor(Seconds time);
  // Commits and loads fail.
  void DatabaseAwayFor(Seconds time) { away_until_ = world_.clock.now() + time; }

  bool runs() const { return life_.has_value(); }
  // What arrives from the network.
  void Post(master::Event event);

  PreemptingPolicy& policy() { return policy_; }
  bool has_loaded() const { return is_loaded_; }
  // What it decides by; empty until it has loaded.
  const master::MasterState& memory() const { return state_; }
  // REQUIRES: it starts again.
  const master::MasterState& stored() const { return database_->stored; }
  const master::ReactorSettings& settings() const { return settings_; }

 private:
  bool IsFrozen() const { return world_.clock.now() < frozen_until_; }
  // Carries it out later, unless the process has died by then; while frozen it waits.
  void Later(Seconds delay, std::function<void()> what);
  void Load();
  void Arrive(master::Event event);
  void Tick();
  void Pump();
  void Handle(const master::Event& event);
  void StartCommitIfDue();
  void EndCommit();
  void Release(const master::Effect& effect);
  void DropAll(const Error& why);

  World& world_;
  const Watcher watcher_;
  const bool starts_again_;
  PreemptingPolicy policy_;
  const master::ReactorSettings settings_;
  std::shared_ptr<master::MemoryDatabase> database_ = std::make_shared<master::MemoryDatabase>();
  std::unique_ptr<master::StateStore> store_;
  std::optional<std::int64_t> life_;  // of the process that runs
  std::int64_t lives_ = 0;
  bool is_loaded_ = false;
  Seconds frozen_until_{0};
  Seconds busy_until_{0};
  Seconds away_until_{0};
  Time last_handled_{};
  Moment next_tick_{};
  master::MasterState state_;
  std::optional<master::GroupCommit> group_;
  std::optional<master::Batch> under_way_;
  master::OpenCalls open_calls_;
  std::deque<master::Event> queue_;
};

}  // namespace espalier::sim
