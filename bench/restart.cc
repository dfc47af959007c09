// How soon a master is ready that has a large plan to load, and how much memory the plan takes.
#include <cstdio>
#include <cstdlib>

#include "bench/benches.h"
#include "bench/output_of.h"
#include "bench/service.h"
#include "bench/stub_node.h"
#include "bench/trials.h"

namespace espalier::bench {
namespace {

// By a program of its own, so that nothing else is in its memory.
double HeapBytesANode(std::int64_t nodes) {
  const auto bytes = OutputOf({ProgramBesideThisOne("espalier-plan-memory"), std::to_string(nodes)});
  if (!bytes) GiveUp("no memory was measured");
  return std::stod(*bytes);
}

}  // namespace

void RunRestart(Figures& figures, Size size) {
  const std::int64_t nodes = size.Of(1'000'000, 8000);
  figures.Add("heap_bytes_a_plan_node", HeapBytesANode(nodes), "<= 300");
  Service service;
  const auto memory_when_empty = static_cast<double>(service.MasterMemory());
  {
    const StubNodes node(service);
    Client client = Need(Client::Connect(service.address()));
    const StudyId study = Need(client.CreateStudy(StubStudy("restart"))).id();
    Submit(client, study, Shape::kFourNodes, 0, nodes / 4);
  }
  service.StopMaster();
  figures.Add("ready_seconds", service.StartMaster().count(), "<= 10");
  const double grown = static_cast<double>(service.MasterMemory()) - memory_when_empty;
  figures.Add("master_bytes_a_trial_with_its_four_nodes", grown / (static_cast<double>(nodes) / 4));
}

}  // namespace espalier::bench
