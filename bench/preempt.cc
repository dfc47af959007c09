// How soon a device is free once its run is asked to leave, and how soon the next path trains there: a real node
// manager and real workers, led by a master that says when.
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "bench/benches.h"
#include "bench/led_worker.h"
#include "bench/step_log_follower.h"
#include "bench/stub_master.h"
#include "bench/subjects.h"
#include "client/cli/up/child_process.h"
#include "worker/node/core/run_files.h"

namespace espalier::bench {
namespace {

constexpr Step kFork{2};
constexpr std::int64_t kFar = 100'000;

RunKey Key(std::int64_t run) { return {LeadershipId{1}, RunId{run}}; }

// A path from scratch, or from the fork, that ends where it owes its state.
class Paths {
 public:
  Paths(Offer offer, std::int64_t hidden, std::int64_t updates)
      : offer_(std::move(offer)), step_{.updates = updates}, values_{{"hidden", hidden}, {"momentum", 0.9}} {}

  Order Trunk(std::int64_t run) const { return On(run, PlanNodeId{1}, Step{0}, kFork, 0.01); }
  // On a plan node of its own, with a learning rate of its own.
  Order Branch(std::int64_t run, const StateStored& fork) const {
    Order order = On(run, PlanNodeId{run}, kFork, Step{kFar}, 0.01 / static_cast<double>(run));
    const PackedConfiguration before = Configured(0.01);
    order.start = OrderedStart{fork.point, fork.file, fork.state_sha256, before, fork.lineage, before};
    return order;
  }

 private:
  PackedConfiguration Configured(double rate) const {
    worker::Values values = values_;
    values["lr"] = rate;
    Configuration configuration;
    for (const auto& [name, value] : ValuesOf(offer_, values, true)) {
      configuration.functions.push_back({Constant{value}, Step{0}});
    }
    return configuration;
  }
  Order On(std::int64_t run, PlanNodeId node, Step from, Step to, double rate) const {
    return {.run = Key(run),
            .plan = PlanId{1},
            .offer = offer_,
            .step = step_,
            .start = {},
            .path = {{{node, from, to}, Configured(rate), DigestOf("lineage " + std::to_string(node.value))}},
            .terms = {.generation = 1, .promises = {{PromiseId{run}, to, Owed::kState}}, .preempt = false}};
  }

  const Offer offer_;
  const StepMeaning step_;
  const worker::Values values_;
};

// A node manager; ended with this.
class NodeManager {
 public:
  explicit NodeManager(const ChildCommand& command) : process_(Need(StartChild(command))) {}
  ~NodeManager() {
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
  }
  NodeManager(const NodeManager&) = delete;
  NodeManager& operator=(const NodeManager&) = delete;

 private:
  const pid_t process_;
};

void Measure(Figures& figures, const Subject& subject, const std::string& name, Size size) {
  const Folder made;
  const std::string& folder = made.path();
  StubMaster master("unix:" + folder + "/master");
  const std::string config = folder + "/node.textproto";
  Need(WriteNodeManagerConfig(config, {.master_address = "unix:" + folder + "/master",
                                       .server = "bench",
                                       .slot_count = 1,
                                       .checkpoint_directory = folder + "/checkpoints",
                                       .work_directory = folder + "/node",
                                       .runtimes = {subject.runtime}}));
  const NodeManager node({.arguments = {ProgramBesideThisOne("espalier-node"), config}, .log_file = folder + "/log"});
  const Paths paths(master.AwaitOffer(), size.Of(2048, 64), size.Of(4, 2));
  master.Want({paths.Trunk(1)});
  const StateStored fork = master.Await<StateStored>(Key(1)).first;
  const auto steps_of = [&](const Order& order) { return folder + "/node/steps/" + node::StepLogName(order.run); };
  std::vector<double> step_ms;
  std::vector<double> free_ms;
  std::vector<double> next_ms;
  std::vector<double> load_ms;
  Order running = paths.Branch(2, fork);
  master.Want({running});
  auto steps = std::make_unique<StepLogFollower>(steps_of(running));
  steps->Next();
  for (std::int64_t turn = 0; turn < size.Of(20, 2); ++turn) {
    steps->Next();
    running.terms.generation = 2;
    running.terms.preempt = true;
    const Seconds asked = MonotonicNow();  // in the midst of the step after
    master.Want({running});
    const Seconds free = master.Await<RunEnded>(running.run).second;
    Order next = paths.Branch(running.run.run.value + 1, fork);
    master.Want({next});
    const Seconds step = steps->Last().took;
    steps = std::make_unique<StepLogFollower>(steps_of(next));
    const Seconds trains = steps->Next().began();
    step_ms.push_back(step.count() * 1000);
    free_ms.push_back((free - asked - step).count() * 1000);
    next_ms.push_back((trains - free).count() * 1000);
    running = next;
  }
  running.terms.generation = 2;
  running.terms.preempt = true;
  master.Want({running});
  master.Await<RunEnded>(running.run);
  for (std::size_t i = 0; i < next_ms.size(); ++i) {
    const RunEnded ended = master.Await<RunEnded>(Key(static_cast<std::int64_t>(i) + 3)).first;
    const double prepared = (ended.load_time + ended.set_up_time).count() * 1000;
    load_ms.push_back(prepared);
    next_ms[i] -= prepared;
  }
  figures.Add(name + "_step_ms", Median(step_ms));
  figures.Add(name + "_free_ms_beyond_a_step_max", std::ranges::max(free_ms), "<= 50");
  figures.Add(name + "_prepared_ms", Median(load_ms));
  figures.Add(name + "_first_step_ms_beyond_that_p50", Median(next_ms), "<= 200");
  figures.Add(name + "_first_step_ms_beyond_that_max", std::ranges::max(next_ms), "<= 200");
}

}  // namespace

void RunPreempt(Figures& figures, Size size) {
  Measure(figures, WideInCpp(), "cpp_reloading", size);
  Measure(figures, WideInPython("Wide"), "python_reloading", size);
  Measure(figures, WideInPython("WideFromInit"), "python_from_init", size);
}

}  // namespace espalier::bench
