// Checks of trainers on a server: begun where nothing trains, tried again, given up, and ended.
#include "tests/unit/node/scenario.h"

namespace espalier::node {
namespace {

WantedCheck WantedOn(int slot = 0) {
  return {.slot = slot,
          .reservation = ShareOf(OneSlotEach(2), slot),
          .offer = ToyOffer(),
          .step = {.updates = 10},
          .root = Configured(0.5),
          .limit = Seconds(600)};
}

// A core of two slots whose workers train toys. What it wants done is kept as texts: "start worker 0" (of the slot),
// "end worker 0", "check 0", "end check".
class CheckingServer {
 public:
  CheckingServer() : core({OneSlotEach(2), {"toy"}, 2, "/staging", "/logs", Seconds(10)}) {
    Do(core.Start(now));
    Happened();
  }

  void Want(std::vector<WantedCheck> checks, std::vector<Order> orders = {}) {
    Do(core.OnOrders({.orders = std::move(orders), .checks = std::move(checks)}, now += Seconds(1)));
    Tick(0);
  }
  // Workers that were told to end are gone.
  void Bury() {
    while (!killed.empty()) {
      const auto [slot, worker] = killed.front();
      killed.erase(killed.begin());
      Do(core.OnWorkerDied(slot, worker, {}, now));
    }
  }
  void EndCheck(const std::optional<CheckFinding>& finding, const std::string& words = "last words") {
    Do(core.OnCheckEnded(process, finding, words, now));
  }
  void Tick(double seconds = 1) { Do(core.OnTick(now += Seconds(seconds))); }
  void Stop() { Do(core.OnStop(now)); }
  Texts Happened() { return std::exchange(happened, {}); }
  std::vector<CheckedTrainer> Said() const { return core.CheckedTrainers(); }

  Core core;
  Seconds now{100};
  std::int64_t process = 0;   // of the check that was started last
  std::optional<Init> asked;  // of it

 private:
  void Do(const Actions& actions) {
    for (const Action& action : actions) {
      if (const auto* spawn = std::get_if<SpawnWorker>(&action)) {
        happened.push_back("start worker " + std::to_string(spawn->slot));
      } else if (const auto* kill = std::get_if<KillWorker>(&action)) {
        happened.push_back("end worker " + std::to_string(kill->slot));
        killed.emplace_back(kill->slot, kill->worker);
      } else if (const auto* start = std::get_if<StartCheck>(&action)) {
        happened.push_back("check " + std::to_string(start->slot));
        CHECK(start->offer == DigestOf(ToyOffer()));
        CHECK(start->runtime == "toy");
        process = start->process;
        asked = start->init;
      } else if (const auto* end = std::get_if<KillCheck>(&action)) {
        CHECK(end->process == process);
        happened.push_back("end check");
      } else if (const auto* send = std::get_if<SendRequest>(&action)) {
        if (!std::holds_alternative<Describe>(send->request.kind)) continue;
        Do(core.OnWorkerReplied(send->slot, send->worker, {send->request.id, Description{1, "cpu", {ToyOffer()}}},
                                now));
      }
    }
  }

  std::vector<std::pair<int, std::int64_t>> killed;
  Texts happened;
};

}  // namespace

TEST_CASE(
    "a check is begun with the values of step 0 once no worker on its slot holds memory; then workers come back") {
  CheckingServer server;
  server.Want({WantedOn()});
  CHECK(server.Happened() == Texts{"end worker 0"});
  server.Bury();
  CHECK(server.Happened() == Texts{"check 0"});
  REQUIRE(server.asked.has_value());
  CHECK(server.asked->step.updates == 10);
  CHECK(server.asked->values == Values{{"lr", Value{0.5}}, {"seed", Value{std::int64_t{7}}}});
  server.Tick(100);
  CHECK(server.Happened().empty());
  CHECK(server.Said().empty());
  const CheckFinding failed{CheckOutcome::kFailed, "another state"};
  server.EndCheck(failed);
  CHECK(server.Said() == std::vector<CheckedTrainer>{{TrainerDigest(ToyOffer()), failed}});
  server.Tick();
  CHECK(server.Happened() == Texts{"start worker 0"});
  server.Want({WantedOn()});
  CHECK(server.Happened().empty());  // it is known
  server.Want({});
  CHECK(server.Said().empty());
}

TEST_CASE("a check that dies is tried again after a pause, and given up the third time, with its last words") {
  CheckingServer server;
  server.Want({WantedOn()});
  for (int i = 0; i < 3; ++i) {
    server.Bury();
    CHECK(server.Happened().back() == "check 0");
    server.EndCheck(std::nullopt);
    CHECK(server.Said().size() == (i == 2 ? 1 : 0));
    server.Tick(0.5);
    CHECK(server.Happened() == Texts{"start worker 0"});
    server.Tick(5);
  }
  REQUIRE(server.Said().size() == 1);
  CHECK(server.Said()[0].finding.outcome == CheckOutcome::kGivenUp);
  CHECK(server.Said()[0].finding.message.find("last words") != std::string::npos);
}

TEST_CASE("a check that takes too long is killed and given up") {
  CheckingServer server;
  server.Want({WantedOn()});
  server.Bury();
  server.Happened();
  server.Tick(601);
  CHECK(server.Happened() == Texts{"end check"});
  REQUIRE(server.Said().size() == 1);
  CHECK(server.Said()[0].finding.outcome == CheckOutcome::kGivenUp);
  server.EndCheck(std::nullopt);
  CHECK(server.Said().size() == 1);
}

TEST_CASE("a run that is given a check's slot waits until the check, which is not wanted any more, has ended") {
  CheckingServer server;
  server.Want({WantedOn()});
  server.Bury();
  server.Happened();
  server.Want({}, {RunBuilder(1).Stage(1, 3, 0.1).Both(3)});
  CHECK(server.Happened() == Texts{"end check"});
  server.Tick();
  CHECK_FALSE(server.core.IsOnSlot(Key(1)));
  server.EndCheck(std::nullopt);
  server.Tick();
  CHECK(server.core.IsOnSlot(Key(1)));
}

TEST_CASE("a check is not begun where a run trains, nor by a server that stops; one that is under way ends then") {
  CheckingServer server;
  server.Want({WantedOn()}, {RunBuilder(1).Stage(1, 3, 0.1).Both(3)});
  CHECK(server.Happened().empty());
  CHECK(server.core.IsOnSlot(Key(1)));
  server.Want({WantedOn(1)}, {RunBuilder(1).Stage(1, 3, 0.1).Both(3)});
  server.Bury();
  CHECK(server.Happened() == Texts{"end worker 1", "check 1"});
  server.Stop();
  CHECK(server.Happened() == Texts{"end check"});
  server.Want({WantedOn(1)});
  server.EndCheck(std::nullopt);
  server.Tick();
  CHECK(server.Happened().empty());
}

TEST_CASE("what cannot be checked is passed over: what nobody here offers, or a slot that is not there") {
  CheckingServer server;
  WantedCheck foreign = WantedOn();
  foreign.offer.code_digest = "other";
  WantedCheck elsewhere = WantedOn();
  elsewhere.slot = 7;
  server.Want({foreign, elsewhere});
  server.Tick();
  CHECK(server.Happened().empty());
}

}  // namespace espalier::node
