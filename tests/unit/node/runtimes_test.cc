// Workers of several runtimes on one server: which is started where, which trains what, and which stay.
#include "tests/unit/node/scenario.h"

namespace espalier::node {
namespace {

Offer OfferOf(const std::string& trainer) {
  Offer offer = ToyOffer();
  offer.trainer = trainer;
  return offer;
}

// A core whose workers answer at once, but for Train and Save: each runtime offers a trainer of its name. What happens
// to workers is kept as texts: "start 0 red", "end 0 red", "Init 0 red"; of a part of a device, "start 0 red with 500".
class ManyRuntimes {
 public:
  explicit ManyRuntimes(std::vector<std::string> runtimes, int slots = 1, int warm = 2)
      : ManyRuntimes(std::move(runtimes), OneSlotEach(slots), warm) {}
  ManyRuntimes(std::vector<std::string> runtimes, const std::vector<Device>& devices, int warm = 2)
      : core({devices, std::move(runtimes), warm, "/staging", "/logs", Seconds(10)}) {
    Do(core.Start(now));
  }

  void Describe(const std::string& runtime) {
    for (const auto& [number, worker] : workers) {
      if (worker.runtime == runtime && worker.describes.has_value()) return Describe(number);
    }
    FAIL("no worker of " << runtime << " was asked to describe itself");
  }
  void DescribeAll() {
    for (bool any = true; any;) {
      any = false;
      for (const auto& [number, worker] : workers) {
        if (!worker.describes.has_value()) continue;
        Describe(number);
        any = true;
        break;
      }
    }
  }
  void Want(const std::vector<Order>& orders, bool draining = false) {
    Do(core.OnOrders({.orders = orders, .superseded_files = {}, .draining = draining}, now += Seconds(1)));
  }
  // The oldest step that was asked for and is not answered is trained.
  void Train() { Reply(trains, Trained{{{"loss", 1.0}, {"samples", 1.0}}, Seconds(0.1)}); }
  void Save() { Reply(saves, Saved{"sha", 100}); }
  void Tick() { Do(core.OnTick(now += Seconds(1))); }
  void Die(const std::string& runtime) {
    const auto dead =
        std::find_if(workers.begin(), workers.end(), [&](const auto& item) { return item.second.runtime == runtime; });
    REQUIRE(dead != workers.end());
    const std::int64_t number = dead->first;
    const int slot = dead->second.slot;
    workers.erase(dead);
    Do(core.OnWorkerDied(slot, number, {}, now));
  }
  // Those told to be killed die.
  void Bury() {
    for (const std::int64_t number : std::exchange(killed, {})) {
      const Placed worker = workers.extract(number).mapped();
      Do(core.OnWorkerDied(worker.slot, number, {}, now));
    }
  }
  Texts Happened() { return std::exchange(happened, {}); }

  Core core;
  Seconds now{100};

 private:
  struct Placed {
    int slot = 0;
    std::string runtime;
    Reservation reservation;
    std::optional<std::int64_t> describes;  // by the request's id
  };
  struct Open {
    std::int64_t worker = 0;
    std::int64_t request = 0;
  };

  void Describe(std::int64_t number) {
    Placed& worker = workers.at(number);
    const std::int64_t request = *std::exchange(worker.describes, std::nullopt);
    const Description description{1, "kind of " + worker.runtime, {OfferOf(worker.runtime)}};
    Do(core.OnWorkerReplied(worker.slot, number, {request, description}, now));
  }
  void Reply(std::deque<Open>& open, const ReplyKind& reply) {
    REQUIRE_FALSE(open.empty());
    const Open first = open.front();
    open.pop_front();
    Do(core.OnWorkerReplied(workers.at(first.worker).slot, first.worker, {first.request, reply}, now));
  }

  void Do(const Actions& actions) {
    for (const Action& action : actions) {
      if (const auto* spawn = std::get_if<SpawnWorker>(&action)) {
        workers[spawn->worker] = {spawn->slot, spawn->runtime, spawn->reservation, std::nullopt};
        Note("start", spawn->worker);
      } else if (const auto* kill = std::get_if<KillWorker>(&action)) {
        Note("end", kill->worker);
        killed.push_back(kill->worker);
      } else if (const auto* send = std::get_if<SendRequest>(&action)) {
        Take(*send);
      } else if (const auto* read = std::get_if<ReadStepLog>(&action)) {
        Do(core.OnStepLogRead(read->run, "", now));
      }
    }
  }
  void Take(const SendRequest& send) {
    const RequestKind& kind = send.request.kind;
    const Open open{send.worker, send.request.id};
    if (std::holds_alternative<node::Describe>(kind)) {
      workers.at(send.worker).describes = send.request.id;
    } else if (std::holds_alternative<node::Train>(kind)) {
      trains.push_back(open);
    } else if (std::holds_alternative<node::Save>(kind)) {
      saves.push_back(open);
    } else {
      if (std::holds_alternative<Init>(kind)) Note("Init", send.worker);
      Do(core.OnWorkerReplied(send.slot, send.worker, {send.request.id, Done{}}, now));
    }
  }
  void Note(const std::string& what, std::int64_t worker) {
    const Placed& placed = workers.at(worker);
    happened.push_back(what + " " + std::to_string(placed.slot) + " " + placed.runtime);
    if (placed.reservation.compute < kWholeDevice) {
      happened.back() += " with " + std::to_string(placed.reservation.compute);
    }
  }

  std::map<std::int64_t, Placed> workers;
  std::vector<std::int64_t> killed;
  std::deque<Open> trains;
  std::deque<Open> saves;
  Texts happened;
};

RunBuilder RunOf(std::int64_t id, const std::string& trainer) {
  return RunBuilder(id).By(OfferOf(trainer)).Stage(1, 1, 0.1).Save(1);
}

}  // namespace

TEST_CASE("every slot begins with the first runtime, and one slot each finds out what the others train") {
  ManyRuntimes server({"red", "green", "blue"}, 2);
  CHECK(server.Happened() == Texts{"start 0 blue", "start 0 red", "start 1 green", "start 1 red"});
  server.Describe("green");
  CHECK_FALSE(server.core.knows_offers());
  REQUIRE(server.core.Offers().size() == 1);
  CHECK(server.core.Offers()[0].offer.trainer == "green");
  CHECK(server.core.Offers()[0].device_kind == "kind of green");
  server.DescribeAll();
  CHECK(server.core.knows_offers());
  CHECK(server.core.Offers().size() == 3);
}

TEST_CASE("a runtime whose worker dies before it has described itself keeps nobody waiting") {
  ManyRuntimes server({"red", "green"});
  server.Describe("red");
  CHECK_FALSE(server.core.knows_offers());
  server.Die("green");
  CHECK(server.core.knows_offers());
  REQUIRE(server.core.Offers().size() == 1);
  server.Happened();
  server.Tick();
  CHECK(server.Happened() == Texts{"start 0 green"});
  server.Describe("green");
  CHECK(server.core.Offers().size() == 2);
}

TEST_CASE("a run is trained by a worker of the runtime that offers it") {
  ManyRuntimes server({"red", "green"});
  server.DescribeAll();
  server.Happened();
  server.Want({RunOf(1, "green")});
  CHECK(server.Happened() == Texts{"Init 0 green"});
  server.Train();
  server.Want({RunOf(1, "green"), RunOf(2, "red")});
  CHECK(server.Happened() == Texts{"Init 0 red"});
}

TEST_CASE("what no runtime offers is refused, and what one offers that has none on the slot waits for its worker") {
  ManyRuntimes server({"red", "green"}, 2);
  server.DescribeAll();
  server.Happened();
  server.Want({RunOf(1, "green"), RunOf(2, "violet")});
  CHECK(server.Happened() == Texts{"start 0 green"});
  CHECK(server.core.outbox().After(0, 10).size() == 1);
  server.Describe("green");
  CHECK(server.Happened() == Texts{"Init 0 green"});
}

TEST_CASE("of the workers that do not train, those used least recently end") {
  ManyRuntimes server({"red", "green", "blue"});
  server.DescribeAll();
  server.Happened();
  server.Want({RunOf(1, "green")});
  CHECK(server.Happened() == Texts{"Init 0 green", "end 0 blue"});
  server.Bury();
  server.Train();
  server.Save();
  server.Tick();
  CHECK(server.Happened().empty());
  server.Want({RunOf(2, "blue")});
  CHECK(server.Happened() == Texts{"start 0 blue", "end 0 red"});
}

TEST_CASE("the workers of a server that is drained end once they have nothing to do, and come when it is used again") {
  ManyRuntimes server({"red", "green"}, 2);
  server.DescribeAll();
  server.Want({RunOf(1, "red")});
  server.Happened();
  server.Want({RunOf(1, "red")}, /*draining=*/true);
  server.Tick();
  CHECK(server.Happened() == Texts{"end 1 green", "end 1 red"});
  server.Bury();
  server.Train();
  server.Save();
  server.Tick();
  CHECK(server.Happened() == Texts{"end 0 red"});
  server.Bury();
  server.Tick();
  CHECK(server.Happened().empty());
  server.Want({});
  server.Tick();
  CHECK(server.Happened() == Texts{"start 0 red", "start 1 red"});
}

TEST_CASE("a worker that still writes a state is not ended for another") {
  ManyRuntimes server({"red", "green"}, 1, 1);
  server.DescribeAll();
  server.Tick();
  server.Bury();
  server.Happened();
  server.Want({RunOf(1, "red")});
  server.Train();
  server.Want({RunOf(1, "red"), RunOf(2, "green")});
  server.Bury();
  server.Tick();
  CHECK(server.Happened() == Texts{"Init 0 red", "start 0 green"});
  server.Describe("green");
  server.Tick();
  CHECK(server.Happened() == Texts{"Init 0 green"});
  server.Save();
  server.Tick();
  CHECK(server.Happened() == Texts{"end 0 red"});
}

TEST_CASE("of two runtimes that offer the same, the first trains it") {
  ManyRuntimes server({"red", "green"});
  server.DescribeAll();
  CHECK(server.core.Offers().size() == 2);
  server.Want({RunOf(1, "red")});
  CHECK(server.Happened().back() == "Init 0 red");
}

namespace {

const std::vector<Device> kTwoSlots{{.name = "cores-0", .slots = 2, .memory_bytes = 1000}};

// On slot 0 with all of the device, and with one of its shares.
RunBuilder WholeRun(std::int64_t id) { return RunOf(id, "red").Reserve({0, 1000, 1000, 0}); }
RunBuilder HalfRun(std::int64_t id, int slot) { return RunOf(id, "red").Slot(slot).Reserve({0, 500, 500, 0}); }

}  // namespace

TEST_CASE("a run that takes the whole device waits until no other worker holds any of what it has reserved") {
  ManyRuntimes server({"red"}, kTwoSlots);
  CHECK(server.Happened() == Texts{"start 0 red with 500", "start 1 red with 500"});
  server.DescribeAll();
  server.Want({WholeRun(1)});
  CHECK(server.Happened() == Texts{"end 0 red with 500", "end 1 red with 500"});
  server.Bury();
  CHECK(server.Happened() == Texts{"start 0 red"});
  server.DescribeAll();
  CHECK(server.Happened() == Texts{"Init 0 red"});
  server.Tick();
  CHECK(server.Happened().empty());  // the second slot's would be in the way
}

TEST_CASE("once a run with the whole device is over its worker stays, until another run takes some of it") {
  ManyRuntimes server({"red"}, kTwoSlots);
  server.DescribeAll();
  server.Want({WholeRun(1)});
  server.Bury();
  server.DescribeAll();
  server.Train();
  server.Happened();
  server.Want({WholeRun(1), WholeRun(2)});
  CHECK(server.Happened() == Texts{"Init 0 red"});
  server.Train();
  server.Tick();
  CHECK(server.Happened() == Texts{"start 1 red with 500"});
  server.DescribeAll();
  server.Want({HalfRun(3, 1)});
  CHECK(server.Happened().empty());  // the worker is still saving what it trained
  server.Save();
  server.Save();
  server.Tick();
  CHECK(server.Happened() == Texts{"end 0 red"});
  server.Bury();
  CHECK(server.Happened() == Texts{"start 0 red with 500", "Init 1 red with 500"});
}

TEST_CASE("a run with a share waits until a worker that had the whole device has saved and is ended") {
  ManyRuntimes server({"red"}, kTwoSlots);
  server.DescribeAll();
  server.Want({WholeRun(1)});
  server.Bury();
  server.DescribeAll();
  server.Train();
  server.Tick();
  server.DescribeAll();
  server.Happened();
  server.Want({WholeRun(1), HalfRun(3, 0)});
  CHECK(server.Happened().empty());
  server.Save();
  server.Tick();
  CHECK(server.Happened() == Texts{"end 0 red"});
  server.Bury();
  server.DescribeAll();
  CHECK(server.Happened().back() == "Init 0 red with 500");
}

TEST_CASE("an order that reserves what the server does not have is refused") {
  ManyRuntimes server({"red"}, kTwoSlots);
  server.DescribeAll();
  server.Happened();
  server.Want({RunOf(1, "red").Slot(1).Reserve({0, 1001, 1000, 0}), RunOf(2, "red").Reserve({0, 500, 1001, 0})});
  CHECK(server.Happened().empty());
  std::vector<std::string> refused;
  for (const Report& report : server.core.outbox().After(0, 1000)) {
    refused.push_back(std::get<RunEnded>(report.kind).refused);
  }
  REQUIRE(refused.size() == 2);
  CHECK(refused[0].starts_with("reservation.compute: "));
  CHECK(refused[1].starts_with("reservation.memory_bytes: "));
}

}  // namespace espalier::node
