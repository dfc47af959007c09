// Training that is out of memory takes more of a device the next time: twice as much, up to all that the largest has.
#include <algorithm>
#include <catch2/catch.hpp>

#include "master/core/views/explain_stage.h"
#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

using Devices = std::vector<Device>;

const Devices kFourSlots{{"gpu-0", DeviceType::kGpu, 4, 4000, 0}};
const Devices kTwoSlots{{.name = "cores-0", .slots = 2}};

struct Memory : ServerByHand {
  using ServerByHand::ServerByHand;

  void RunOutOfMemory(const Run& run, std::int64_t step = 5) {
    const RunKey key{run.leadership, run.id};
    const RunFailed failed{RunFailed::Kind::kOutOfMemory, PointOf(run, Step{step}), "too large"};
    const RunEnded ended{.step = Step{step - 1}};
    const auto server = std::ranges::find(servers, run.slot.server, &ConnectedServer::name);
    const std::int64_t first = NextReport(server->session);
    Handle(NodeMessage{.session = server->session,
                       .reports = {{first, key, failed}, {NextReport(server->session), key, ended}}});
  }
  std::vector<RunId> Training() const {
    std::vector<RunId> training;
    for (const RunId id : state().active_runs) {
      if (RunOf(id).training()) training.push_back(id);
    }
    return training;
  }
  ExplainedStage Explain(const Run& run) const {
    return ExplainStage(state(), PointOf(run, run.path.back().to), kAnn, Time{}).value();
  }
};

}  // namespace

TEST_CASE("training that is out of memory is tried with twice as much, up to a whole device, and fails then") {
  Memory of(kFourSlots);
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 10);
  CHECK(of.Last().reservation == Reservation{0, 250, 1000, 0});
  of.RunOutOfMemory(of.Last());
  REQUIRE(of.state().runs.size() == 2);
  CHECK(of.Last().slots == 2);
  CHECK(of.Last().reservation == Reservation{0, 500, 2000, 0});
  REQUIRE(of.servers[0].orders->orders.size() == 1);
  CHECK(of.servers[0].orders->orders[0].reservation == of.Last().reservation);
  of.RunOutOfMemory(of.Last());
  CHECK(of.Last().slots == 4);
  CHECK(of.Last().reservation == Reservation{0, 1000, 4000, 0});
  of.RunOutOfMemory(of.Last());
  CHECK(of.state().runs.size() == 3);
  CHECK(of.LastClaim(trial).state == ClaimState::kFailed);
  const Failure* failure = of.Plan().FindFailure({of.Last().path.front().node, Step{5}});
  REQUIRE(failure != nullptr);
  CHECK(failure->kind == Failure::Kind::kOutOfMemory);
  CHECK(failure->message ==
        "out of memory with 4 of 4 slots of gpu-0 on server-0, 4000 bytes of its memory, and no server that offers it "
        "has more: too large");
}

TEST_CASE("three slots are doubled to two, and then all are taken") {
  Memory of(Devices{{.name = "cores-0", .slots = 3}});
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  of.RunOutOfMemory(of.Last());
  CHECK(of.Last().slots == 2);
  of.RunOutOfMemory(of.Last());
  CHECK(of.Last().slots == 3);
}

TEST_CASE("idle slots of a device wait for a path that takes several of them, and no lesser path is given one") {
  Memory of(kTwoSlots);
  of.Submit(of.study, {{"lr", "0.1"}}, 30);
  const Run large = of.Last();
  of.Submit(of.study, {{"lr", "0.2"}}, 20);
  const Run small = of.Last();
  of.Submit(of.study, {{"lr", "0.3"}}, 10);
  REQUIRE(of.state().runs.size() == 2);
  of.RunOutOfMemory(large);
  CHECK(of.Training() == std::vector{small.id});
  const ExplainedStage waiting = of.Explain(large);
  CHECK(waiting.waits_for == WaitsFor::kSlot);
  CHECK(waiting.warnings ==
        std::vector<std::string>{"it was out of memory with less than it takes now: 1000 thousandths of one device"});
  of.Complete(small);
  REQUIRE(of.Training().size() == 1);
  CHECK(of.Last().slots == 2);
  CHECK(of.Last().path.front().node == large.path.front().node);
  of.Complete(of.Last());
  REQUIRE(of.Training().size() == 1);
  CHECK(of.Last().slots == 1);  // of the third trial
}

TEST_CASE("a better path goes before one that waits for several slots") {
  Memory of(kTwoSlots);
  of.Submit(of.study, {{"lr", "0.1"}}, 20);
  const Run large = of.Last();
  of.Submit(of.study, {{"lr", "0.2"}}, 20);
  of.RunOutOfMemory(large);
  REQUIRE(of.Training().size() == 1);
  of.Submit(of.study, {{"lr", "0.3"}}, 40);
  CHECK(of.Training().size() == 2);
  CHECK(of.Last().path.back().to == Step{40});
}

TEST_CASE("every slot that a run holds is charged") {
  Memory of(kTwoSlots);
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  of.RunOutOfMemory(of.Last());
  const RunId run = of.Last().id;
  of.Report(of.RunOf(run), RunEnded{.step = Step{4}, .slot_time = Seconds(10)});
  std::int64_t microseconds = 0;
  for (const auto& [study, charged] : of.RunOf(run).charges) microseconds += charged;
  CHECK(microseconds == 20'000'000);
}

TEST_CASE("what training takes outlives the master's memory") {
  Memory of(kTwoSlots);
  of.Submit(of.study, {{"lr", "0.1"}}, 30);
  const Run large = of.Last();
  of.Submit(of.study, {{"lr", "0.2"}}, 20);
  const Run small = of.Last();
  of.RunOutOfMemory(large);
  of.Restart();
  CHECK(of.Training() == std::vector{small.id});
  of.Complete(of.RunOf(small.id));
  REQUIRE(of.Training().size() == 1);
  CHECK(of.Last().slots == 2);
  of.Restart();
  CHECK(of.Last().slots == 2);
  of.Submit(of.study, {{"lr", "0.3"}}, 5);
  CHECK(of.Training().size() == 1);
}

TEST_CASE("what was out of memory on a whole device is tried on one with more memory") {
  Memory of(Devices{{.name = "small", .memory_bytes = 1000}});
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 10);
  of.Connect("server-1", Devices{{.name = "large", .slots = 2, .memory_bytes = 4000}});
  of.RunOutOfMemory(of.Last());
  CHECK(of.Last().slot == SlotId{"server-1", 0});
  CHECK(of.Last().slots == 1);
  of.RunOutOfMemory(of.Last());
  CHECK(of.Last().reservation == Reservation{0, 1000, 4000, 0});
  of.RunOutOfMemory(of.Last());
  CHECK(of.LastClaim(trial).state == ClaimState::kFailed);
}

TEST_CASE("what was out of memory on a whole device is not tried on one of which nothing is known") {
  Memory of(Devices{{.name = "small", .memory_bytes = 1000}});
  of.Connect("server-1", Devices{{.name = "unknown"}});
  of.Connect("server-2", Devices{{.name = "large", .slots = 2, .memory_bytes = 4000}});
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  REQUIRE(of.Last().slot.server == "server-0");
  of.RunOutOfMemory(of.Last());
  CHECK(of.Last().slot.server == "server-2");
  of.RunOutOfMemory(of.Last());
  CHECK(of.Last().slot.server == "server-2");
  CHECK(of.Last().slots == 2);
}

TEST_CASE("what crashed where alone there is enough memory is tried there again") {
  Memory of(Devices{{.name = "large", .slots = 2, .memory_bytes = 2000}});
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  of.Connect("server-1", Devices{{.name = "small", .memory_bytes = 1000}});
  of.RunOutOfMemory(of.Last());
  REQUIRE(of.Last().slots == 2);
  of.Crash(of.Last(), PointOf(of.Last(), Step{3}));
  REQUIRE(of.Training().empty());
  REQUIRE(of.AwaitOrder());
  CHECK(of.Last().slot == SlotId{"server-0", 0});
  CHECK(of.Last().slots == 2);
}

TEST_CASE("a device with more memory does not count where its server does not offer the training") {
  Memory of(Devices{{.name = "small", .memory_bytes = 1000}});
  of.Handle(NodeMessage{.session = SessionId{99},
                        .registration = Registration{.server = "another",
                                                     .incarnation = "1",
                                                     .devices = {{.name = "large", .memory_bytes = 4000}},
                                                     .offers = {}}});
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 10);
  of.RunOutOfMemory(of.Last());
  CHECK(of.LastClaim(trial).state == ClaimState::kFailed);
}

TEST_CASE("a run takes what the most demanding stage of its path takes") {
  Memory of(kFourSlots);
  of.Submit(of.study, {{"lr", "Piecewise([0.1, 0.01], [5])"}}, 10);
  of.RunOutOfMemory(of.Last(), 8);
  CHECK(of.Last().slots == 2);
  of.RunOutOfMemory(of.Last(), 3);
  CHECK(of.Last().slots == 4);
}

TEST_CASE("a run takes what was not enough from any checkpoint") {
  Memory of(kFourSlots);
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  const Point point = PointOf(of.Last(), Step{5});
  of.Store(of.Last(), point);
  of.RunOutOfMemory(of.Last(), 8);
  REQUIRE(of.Last().start == point);
  of.Report(of.Last(), StartUnusable{point, "file", "gone"});
  of.Report(of.Last(), RunEnded{.step = Step{5}});
  REQUIRE_FALSE(of.Last().start.has_value());
  of.RunOutOfMemory(of.Last(), 3);
  CHECK(of.Last().slots == 4);
}

TEST_CASE("slots of a device that a path waits for go to no other path that takes several") {
  Memory of(kFourSlots);
  std::vector<Run> runs;
  for (const int steps : {40, 30, 20, 10}) {
    of.Submit(of.study, {{"lr", "0." + std::to_string(steps)}}, steps);
    runs.push_back(of.Last());
  }
  of.RunOutOfMemory(runs[1]);  // waits for two slots
  of.RunOutOfMemory(runs[0]);  // goes before it, with slots 0 and 1
  REQUIRE(of.Last().slots == 2);
  of.RunOutOfMemory(of.Last());  // waits for all four, and idle are two
  CHECK(of.Training() == std::vector{runs[2].id, runs[3].id});
}

TEST_CASE("what a path takes of a device is given wherever slots are free, side by side if there are such") {
  Memory of(kFourSlots);
  std::vector<Run> runs;
  for (const int steps : {40, 30, 20, 10}) {
    of.Submit(of.study, {{"lr", "0." + std::to_string(steps)}}, steps);
    runs.push_back(of.Last());
  }
  of.RunOutOfMemory(runs[0]);
  const bool is_side_by_side = GENERATE(false, true);
  of.Complete(runs[is_side_by_side ? 1 : 2]);  // idle are slots 0 and that one
  CHECK(of.Training().size() == 3);
  CHECK(of.Last().slot == SlotId{"server-0", 0});
  CHECK(of.Last().slots == 2);
  of.Submit(of.study, {{"lr", "0.5"}}, 5);
  CHECK(of.Training().size() == 3);  // a slot is free, and nothing is left of the device
}

TEST_CASE("of several devices, the one with most idle slots is waited for, and others are given away") {
  Memory of(Devices{{.name = "a", .slots = 2}, {.name = "b", .slots = 2}});
  std::vector<Run> runs;
  for (const int steps : {40, 30, 20, 10}) {
    of.Submit(of.study, {{"lr", "0." + std::to_string(steps)}}, steps);
    runs.push_back(of.Last());
  }
  of.RunOutOfMemory(runs[3]);  // idle is one slot of b
  of.Submit(of.study, {{"lr", "0.5"}}, 5);
  CHECK(of.Training() == std::vector{runs[0].id, runs[1].id, runs[2].id});
  of.Complete(runs[2]);
  CHECK(of.Last().path.back().to == Step{10});
  CHECK(of.Last().slot == SlotId{"server-0", 2});
  CHECK(of.Last().slots == 2);
}

TEST_CASE("a policy gives a path no less than it takes, and no more than its device has") {
  struct Meddling : Policy {
    std::string_view name() const override { return "meddling"; }
    Ranking ranking() const override { return Ranking::kLongest; }
    std::optional<Action> Decide(const View& view, Time) override {
      auto start = view.BestStart();
      if (start && wanted) start->reservation = std::exchange(wanted, std::nullopt);
      return start ? std::optional<Action>(*start) : std::nullopt;
    }
    std::optional<Reservation> wanted;
  };
  Memory of(Devices{{.name = "a", .slots = 2}, {.name = "b", .slots = 2}});
  auto owned = std::make_unique<Meddling>();
  Meddling& policy = *owned;
  of.policy = std::move(owned);
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  policy.wanted = GENERATE(Reservation{.device = 0, .compute = 999}, Reservation{.device = 0, .compute = 1001},
                           Reservation{.device = 1, .compute = 1000}, Reservation{.device = -1, .compute = 1000});
  of.RunOutOfMemory(of.Last());
  CHECK(of.Training().empty());
}

TEST_CASE("it is said when the server that had enough is gone") {
  Memory of(Devices{{.name = "small", .memory_bytes = 1000}});
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  const Run run = of.Last();
  of.Connect("server-1", Devices{{.name = "large", .memory_bytes = 4000}});
  of.RunOutOfMemory(run);
  of.LoseServers();
  of.Connect("server-2", Devices{{.name = "small", .memory_bytes = 1000}});
  CHECK(of.Training().empty());
  const ExplainedStage waiting = of.Explain(run);
  CHECK(waiting.waits_for == WaitsFor::kOffer);
  CHECK(waiting.why.find("takes 2000 thousandths of one device with 2000 bytes of memory in all") != std::string::npos);
}

TEST_CASE("a retried stage takes what it had last, and is tried with no less") {
  Memory of(kTwoSlots);
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 10);
  of.RunOutOfMemory(of.Last());
  of.RunOutOfMemory(of.Last());
  REQUIRE(of.LastClaim(trial).state == ClaimState::kFailed);
  of.Call(RetryStage{{of.Last().path.front().node, Step{5}}});
  REQUIRE(of.Training().size() == 1);
  CHECK(of.Last().slots == 2);
  of.Complete(of.Last());
  CHECK(of.LastClaim(trial).state == ClaimState::kDone);
}

TEST_CASE("what was out of memory and is tried with more is nothing to retry") {
  Memory of(kTwoSlots);
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  of.RunOutOfMemory(of.Last());
  const MasterState before = of.state();
  of.Ask({CallId{1}, kAnn, "retry", RetryStage{{of.Last().path.front().node, Step{5}}}});
  CHECK(std::holds_alternative<Error>(of.last_reply.answer));
  CHECK(of.state() == before);
}

TEST_CASE("a retried stage begins with a slot again where no server has any more what it takes") {
  Memory of(Devices{{.name = "small", .memory_bytes = 1000}});
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  const Run run = of.Last();
  of.Connect("server-1", Devices{{.name = "large", .memory_bytes = 4000}});
  of.RunOutOfMemory(run);
  of.LoseServers();
  of.Connect("server-2", Devices{{.name = "small", .memory_bytes = 1000}});
  REQUIRE(of.Training().empty());
  of.Call(RetryStage{{run.path.front().node, Step{5}}});
  REQUIRE(of.Training().size() == 1);
  CHECK(of.Last().slot == SlotId{"server-2", 0});
}

}  // namespace espalier::master
