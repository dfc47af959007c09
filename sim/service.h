// The whole service in virtual time: one master, its store, a network, servers with their node managers and workers,
// and the checkpoint store. Who simulates something with it is told of everything that happens. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/files.h"
#include "sim/master_process.h"
#include "sim/network.h"
#include "sim/node_process.h"
#include "sim/world.h"

namespace espalier::sim {

struct ServiceSettings {
  std::vector<SimulatedServer> servers = std::vector<SimulatedServer>(3);
  std::vector<Offer> offers = {OfferOf(1, 1)};  // of each server
  MasterProcess::Settings master = {};
};

class Service {
 public:
  // What happens, beside what MasterProcess and NodeProcess say. `master.released` need not carry orders to servers.
  struct Watcher {
    MasterProcess::Watcher master;
    NodeProcess::Watcher node;
    std::function<void(const master::NodeMessage&)> arrived;  // at the master, which may be frozen or busy
  };

  // REQUIRES: the world outlives it; the policy is known.
  Service(World& world, const ServiceSettings& settings, Watcher watcher);

  void Start();

  MasterProcess& master() { return master_; }
  const MasterProcess& master() const { return master_; }
  PreemptingPolicy& policy() { return master_.policy(); }
  Network& network() { return network_; }
  CheckpointFiles& files() { return files_; }
  const std::vector<std::unique_ptr<NodeProcess>>& nodes() const { return nodes_; }
  const master::MasterState& stored() const { return master_.stored(); }

 private:
  MasterProcess::Watcher WatcherOfMaster();
  void Analyse(const CurveQuestion& question);
  void Serve();

  World& world_;
  const Watcher watcher_;
  CheckpointFiles files_;
  Network network_;
  MasterProcess master_;
  std::vector<std::unique_ptr<NodeProcess>> nodes_;
};

}  // namespace espalier::sim
