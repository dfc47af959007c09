// Users' code on a server: fetched, described, offered, refused, and dropped.
#include "tests/unit/node/scenario.h"

namespace espalier::node {
namespace {

const Digest128 kRed = espalier::DigestOf("red");
const Digest128 kBlue = espalier::DigestOf("blue");

Offer OfferOf(Digest128 reference) {
  Offer offer = ToyOffer();
  offer.trainer = ToHex(reference);
  return offer;
}

// A core of one slot and one runtime of its own. What it wants done is kept as texts: "fetch red", "start red",
// "end own", "forget red".
class Server {
 public:
  Server() : core({OneSlotEach(1), {"own"}, 3, "/staging", "/logs", Seconds(10)}) {
    Do(core.Start(now));
    Describe("own", ToyOffer());
    Happened();
  }

  void Want(std::vector<WantedReference> references, std::vector<Order> orders = {}) {
    Do(core.OnOrders({std::move(orders), 0, {}, std::move(references)}, now += Seconds(1)));
  }
  void Fetched(Digest128 reference, const Result<void>& fetched = {}) {
    Do(core.OnReferenceFetched(reference, fetched, now));
  }
  void Describe(const std::string& runtime, const Offer& offer) {
    const std::int64_t number = WorkerOf(runtime);
    Do(core.OnWorkerReplied(0, number, {describes.at(number), Description{1, "cpu", {offer}}}, now));
  }
  void Describe(Digest128 reference) { Describe(ToHex(reference), OfferOf(reference)); }
  void Die(const std::string& runtime, const std::string& words) {
    const std::int64_t number = WorkerOf(runtime);
    workers.erase(number);
    Do(core.OnWorkerDied(0, number, {.last_words = words}, now));
  }
  void Bury() {
    for (const std::int64_t number : std::exchange(killed, {})) {
      workers.erase(number);
      Do(core.OnWorkerDied(0, number, {}, now));
    }
  }
  void Tick(double seconds = 1) { Do(core.OnTick(now += Seconds(seconds))); }
  // The oldest step that was asked for is trained.
  void Train() {
    const auto [worker, request] = trains.at(0);
    trains.erase(trains.begin());
    Do(core.OnWorkerReplied(0, worker, {request, Trained{{{"loss", 1.0}, {"samples", 1.0}}, Seconds(0.1)}}, now));
  }
  std::vector<DescribedReference> Said() const { return core.DescribedReferences(); }
  Texts Happened() { return std::exchange(happened, {}); }

  Core core;
  Seconds now{100};

 private:
  static std::string Named(const std::string& runtime) {
    if (runtime == ToHex(kRed)) return "red";
    return runtime == ToHex(kBlue) ? "blue" : runtime;
  }
  std::int64_t WorkerOf(const std::string& runtime) {
    for (const auto& [number, its] : workers) {
      if (its == runtime) return number;
    }
    FAIL("no worker of " << Named(runtime));
    return 0;
  }
  void Do(const Actions& actions) {
    for (const Action& action : actions) {
      if (const auto* spawn = std::get_if<SpawnWorker>(&action)) {
        workers[spawn->worker] = spawn->runtime;
        happened.push_back("start " + Named(spawn->runtime));
      } else if (const auto* kill = std::get_if<KillWorker>(&action)) {
        happened.push_back("end " + Named(workers.at(kill->worker)));
        killed.push_back(kill->worker);
      } else if (const auto* fetch = std::get_if<FetchReference>(&action)) {
        happened.push_back("fetch " + Named(ToHex(fetch->reference)));
      } else if (const auto* forget = std::get_if<ForgetReference>(&action)) {
        happened.push_back("forget " + Named(ToHex(forget->reference)));
      } else if (const auto* read = std::get_if<ReadStepLog>(&action)) {
        Do(core.OnStepLogRead(read->run, "", now));
      } else if (const auto* send = std::get_if<SendRequest>(&action)) {
        Take(*send);
      }
    }
  }
  void Take(const SendRequest& send) {
    if (std::holds_alternative<node::Describe>(send.request.kind)) {
      describes[send.worker] = send.request.id;
    } else if (std::holds_alternative<node::Train>(send.request.kind)) {
      trains.emplace_back(send.worker, send.request.id);
    } else if (!std::holds_alternative<Save>(send.request.kind)) {
      Do(core.OnWorkerReplied(0, send.worker, {send.request.id, Done{}}, now));
    }
  }

  std::map<std::int64_t, std::string> workers;  // their runtimes
  std::map<std::int64_t, std::int64_t> describes;
  std::vector<std::pair<std::int64_t, std::int64_t>> trains;
  std::vector<std::int64_t> killed;
  Texts happened;
};

}  // namespace

TEST_CASE("a reference that is wanted is fetched once, described, and offered as the reference's alone") {
  Server server;
  server.Want({{kRed, 1}});
  server.Want({{kRed, 1}});
  CHECK(server.Happened() == Texts{"fetch red"});
  CHECK(server.core.knows_offers());  // what it looks at keeps nobody waiting
  server.Fetched(kRed);
  CHECK(server.Happened() == Texts{"start red"});
  CHECK(server.Said().empty());
  server.Describe(kRed);
  REQUIRE(server.Said().size() == 1);
  CHECK(server.Said()[0] == DescribedReference{kRed, 1, {{OfferOf(kRed), "cpu"}}, {}});
  CHECK(server.core.Offers().size() == 1);
}

TEST_CASE("what cannot be run here is refused with the reason, until somebody asks anew") {
  Server server;
  server.Want({{kRed, 1}});
  server.Fetched(kRed, MakeError(ErrorCode::kFailedPrecondition, "nobody's code runs here"));
  CHECK(server.Said() == std::vector{DescribedReference{kRed, 1, {}, "nobody's code runs here"}});
  server.Tick(100);
  server.Want({{kRed, 1}});
  CHECK(server.Happened() == Texts{"fetch red"});
  server.Want({{kRed, 2}});
  CHECK(server.Happened() == Texts{"fetch red"});
  CHECK(server.Said().empty());
}

TEST_CASE("a worker that ends before it has described itself refuses its reference with its last words") {
  Server server;
  server.Want({{kRed, 1}});
  server.Fetched(kRed);
  server.Die(ToHex(kRed), "ModuleNotFoundError: torch");
  CHECK(server.Said() == std::vector{DescribedReference{kRed, 1, {}, "ModuleNotFoundError: torch"}});
  server.Tick(100);
  CHECK(server.Happened() == Texts{"fetch red", "start red", "forget red"});
  server.Want({{kRed, 2}});
  server.Fetched(kRed);
  server.Describe(kRed);
  CHECK(server.Said() == std::vector{DescribedReference{kRed, 2, {{OfferOf(kRed), "cpu"}}, {}}});
}

TEST_CASE("while the master is away a reference is fetched again and again, with pauses") {
  Server server;
  server.Want({{kRed, 1}});
  for (int i = 0; i < 2; ++i) {
    server.Fetched(kRed, MakeError(ErrorCode::kUnavailable, "away"));
    server.Tick(0.1);
    CHECK(server.Happened() == Texts{"fetch red"});
    server.Tick(10);
  }
  CHECK(server.Happened() == Texts{"fetch red"});
  CHECK(server.Said().empty());
}

TEST_CASE("of users' code one is described at a time") {
  Server server;
  server.Want({{kRed, 1}, {kBlue, 1}});
  server.Fetched(kRed);
  server.Fetched(kBlue);
  server.Happened();
  server.Tick();
  CHECK(server.Happened().empty());
  server.Describe(kRed);
  server.Tick();
  CHECK(server.Happened() == Texts{"start blue"});
}

TEST_CASE("code that nobody wants any more goes, once nothing is trained by it") {
  Server server;
  server.Want({{kRed, 1}});
  server.Fetched(kRed);
  server.Describe(kRed);
  server.Happened();
  const Order order = RunBuilder(1).By(OfferOf(kRed)).Stage(1, 1, 0.1).Evaluate(1);
  server.Want({{kRed, 1}}, {order});
  server.Want({}, {order});
  server.Tick();
  CHECK(server.Happened().empty());
  CHECK(server.Said().empty());
  server.Want({}, {});
  server.Train();
  server.Tick();
  CHECK(server.Happened() == Texts{"end red"});
  server.Bury();
  server.Tick();
  server.Tick();
  CHECK(server.Happened() == Texts{"forget red"});
}

}  // namespace espalier::node
