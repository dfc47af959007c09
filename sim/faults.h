// What goes wrong in a simulation, and when: drawn by its seed. One thread.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/fault_kind.h"
#include "sim/master_process.h"
#include "sim/network.h"
#include "sim/node_process.h"
#include "sim/preempting_policy.h"
#include "sim/users.h"

namespace espalier::sim {

class Faults {
 public:
  struct Parts {
    MasterProcess& master;
    PreemptingPolicy& policy;
    Network& network;
    CheckpointFiles& files;
    Users& users;
    std::vector<NodeProcess*> nodes;
  };

  Faults(World& world, Parts parts) : world_(world), parts_(std::move(parts)) {}

  // Puts them on the clock: of each kind at least one if there are enough.
  void Plan(int count, Seconds from, Seconds until);

  // Kinds that had something to strike.
  const std::set<FaultKind>& kinds() const { return kinds_; }
  int count() const { return count_; }

 private:
  void Strike(FaultKind kind);
  bool StrikeWorker(FaultKind kind);
  bool StrikeFile(FaultKind kind);
  void StrikeNode(FaultKind kind);
  void StrikeMaster(FaultKind kind);
  // The stage with which the first run begins that is ordered from now on, and the servers that were lost under it.
  struct StageInTurn {
    RunId first;
    Seconds until{0};
    std::optional<master::StageBeginning> beginning = {};
    std::set<std::string> lost = {};
  };
  // Kills the server that trains the stage, as soon as there is one that was not lost under it.
  void LoseServersOf(StageInTurn stage);
  void Restart(NodeProcess& node, Seconds after);

  World& world_;
  Parts parts_;
  std::set<FaultKind> kinds_;
  int count_ = 0;
  bool has_second_version_ = false;
};

}  // namespace espalier::sim
