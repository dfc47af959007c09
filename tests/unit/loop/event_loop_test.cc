#include "master/loop/event_loop.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "tests/unit/loop/toy_master.h"

namespace espalier::master {
namespace {

// The call that an effect answers, if it does.
std::int64_t Answered(const Effect& effect) {
  const auto* reply = std::get_if<Reply>(&effect);
  return reply == nullptr ? 0 : reply->call.value;
}

bool IsUnavailable(const Effect& effect) {
  const auto* reply = std::get_if<Reply>(&effect);
  const auto* error = reply == nullptr ? nullptr : std::get_if<Error>(&reply->answer);
  return error != nullptr && error->code == ErrorCode::kUnavailable;
}

TEST_CASE("a reply leaves only when its edit is durable, whoever posts") {
  ToyMaster master;
  bool always_durable = true;
  master.effects.on_effect = [&](const Effect& effect) {
    always_durable = always_durable && master.database->stored.requests.contains(KeyOf(Answered(effect)));
  };
  master.Start();
  constexpr std::size_t kProducers = 8;
  constexpr std::size_t kCalls = 200;
  std::vector<std::thread> producers;
  for (std::size_t producer = 0; producer < kProducers; ++producer) {
    producers.emplace_back([&, producer] {
      for (std::size_t i = 1; i <= kCalls; ++i) {
        master.loop.Post(MakeCall(static_cast<std::int64_t>(producer * 1000 + i)));
      }
    });
  }
  for (std::thread& producer : producers) producer.join();
  const std::vector<Effect> effects = master.effects.Await(kProducers * kCalls);
  REQUIRE(master.Finish().has_value());
  CHECK(always_durable);
  CHECK(master.database->stored.requests.size() == kProducers * kCalls);
  // Each producer's calls are answered in the order in which it made them.
  std::map<std::int64_t, std::int64_t> last;
  for (const Effect& effect : effects) {
    const std::int64_t call = Answered(effect);
    CHECK(call % 1000 == last[call / 1000] + 1);
    last[call / 1000] = call % 1000;
  }
}

TEST_CASE("what arrives during a commit forms one batch") {
  ToyMaster master;
  master.gate.Shut();
  master.Start();
  master.loop.Post(MakeCall(1));
  master.gate.AwaitWaiting();
  for (int i = 2; i <= 50; ++i) master.loop.Post(MakeCall(i));
  master.AwaitHandled();
  CHECK(master.effects.effects().empty());
  master.gate.Open();
  const std::vector<Effect> effects = master.effects.Await(50);
  REQUIRE(master.Finish().has_value());
  CHECK(master.CommitSizes() == std::vector<std::size_t>{1, 49});
  for (std::size_t i = 0; i < effects.size(); ++i) CHECK(Answered(effects[i]) == static_cast<std::int64_t>(i) + 1);
}

EventLoopSettings WithPatience(double seconds) {
  return {.tick_every = Seconds{0}, .commit = {.longest_patience = Seconds{seconds}}, .load_retry_min = Seconds{0.001}};
}
constexpr double kForever = 1e6;

TEST_CASE("reports wait for company, and for nobody who waits for them") {
  ToyMaster master(WithPatience(kForever));
  master.Start();
  master.loop.Post(Reporting(1));
  master.loop.Post(Reporting(2));
  master.loop.Post(MakeCall(3));
  const std::vector<Effect> effects = master.effects.Await(3);
  CHECK(Answered(effects[2]) == 3);
  CHECK(master.CommitSizes() == std::vector<std::size_t>{3});
  master.loop.Post(Reporting(4));
  bool seen = false;
  CHECK(master.loop.Read([&](const MasterState& state) { seen = state.requests.contains({StudyId{1}, "4"}); }));
  CHECK(seen);
  CHECK(master.database->stored.requests.contains({StudyId{1}, "4"}));
}

TEST_CASE("reports that nothing else follows are stored all the same") {
  ToyMaster master(WithPatience(0.001));
  master.Start();
  master.loop.Post(Reporting(1));
  master.effects.Await(1);
  CHECK(master.CommitSizes() == std::vector<std::size_t>{1});
}

TEST_CASE("an event that changes nothing waits for the edits before it, and needs no commit of its own") {
  ToyMaster master;
  master.gate.Shut();
  master.Start();
  master.loop.Post(MakeCall(1));
  master.gate.AwaitWaiting();
  master.loop.Post(Question(2));
  master.AwaitHandled();
  CHECK(master.effects.effects().empty());
  master.gate.Open();
  const std::vector<Effect> effects = master.effects.Await(2);
  CHECK(Answered(effects[0]) == 1);
  CHECK(Answered(effects[1]) == 2);
  REQUIRE(master.Finish().has_value());
  CHECK(master.CommitSizes() == std::vector<std::size_t>{1});
}

TEST_CASE("a read sees memory at once, and returns when what it saw is durable") {
  ToyMaster master;
  master.gate.Shut();
  master.Start();
  master.loop.Post(MakeCall(1));
  bool durable_when_done = false;
  std::promise<bool> seen;
  std::promise<void> done;
  master.loop.PostRead([&](const MasterState& state) { seen.set_value(state.requests.contains(KeyOf(1))); },
                       [&](const Result<void>& outcome) {
                         durable_when_done = outcome.has_value() && master.database->stored.requests.contains(KeyOf(1));
                         done.set_value();
                       });
  CHECK(seen.get_future().get());
  master.gate.AwaitWaiting();
  CHECK(master.effects.effects().empty());
  master.gate.Open();
  done.get_future().get();
  CHECK(durable_when_done);
  CHECK(master.loop.Read([](const MasterState&) {}).has_value());
}

TEST_CASE("when a commit fails every waiting call is told so, nodes register again, and the state is loaded") {
  const bool stored_nevertheless = GENERATE(false, true);
  ToyMaster master;
  master.store.FailNextCommit({ErrorCode::kUnavailable, "outcome unknown", {}}, stored_nevertheless);
  master.gate.Shut();
  master.Start();
  master.loop.Post(Message(5));
  master.effects.Await(1);
  master.loop.Post(MakeCall(1));
  master.gate.AwaitWaiting();
  master.loop.Post(MakeCall(2));  // in the batch that fills meanwhile
  Result<void> read;
  std::promise<void> read_done;
  master.loop.PostRead([](const MasterState&) {},
                       [&](Result<void> outcome) {
                         read = std::move(outcome);
                         read_done.set_value();
                       });
  master.AwaitHandled();
  master.gate.Open();
  const std::vector<Effect> effects = master.effects.Await(4);
  read_done.get_future().get();
  CHECK(IsUnavailable(effects[1]));
  CHECK(IsUnavailable(effects[2]));
  CHECK(Answered(effects[1]) + Answered(effects[2]) == 3);
  REQUIRE(std::holds_alternative<EndSession>(effects[3]));
  CHECK(std::get<EndSession>(effects[3]).session == SessionId{5});
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code == ErrorCode::kUnavailable);

  master.loop.Post(MakeCall(3));
  CHECK(Answered(master.effects.Await(5)[4]) == 3);
  CHECK_FALSE(IsUnavailable(master.effects.effects()[4]));
  bool remembers = false;
  REQUIRE(
      master.loop.Read([&](const MasterState& state) { remembers = state.requests.contains(KeyOf(1)); }).has_value());
  CHECK(remembers == stored_nevertheless);
  REQUIRE(master.Finish().has_value());
  CHECK_FALSE(master.database->stored.requests.contains(KeyOf(2)));
}

// What a caller was told; the error id is the message's last word.
std::string TextOf(const Effect& effect) {
  const auto* reply = std::get_if<Reply>(&effect);
  const auto* error = reply == nullptr ? nullptr : std::get_if<Error>(&reply->answer);
  return error == nullptr ? "" : error->message;
}

// The reason that the log has under the error id that a caller was told.
std::string ReasonOf(const std::vector<LogLine>& log, const std::string& told) {
  const std::string id = told.substr(told.rfind(' ') + 1);
  for (const LogLine& line : log) {
    if (line.fields.empty() || line.fields.front() != LogField("error_id", id)) continue;
    CHECK(line.level == LogLevel::kError);
    return line.fields.back().value;
  }
  return "";
}

TEST_CASE("a read that throws is told an error id that the log has with the reason, and costs nobody else anything") {
  ToyMaster master;
  master.Start();
  const Result<void> read = master.loop.Read([](const MasterState&) { throw std::bad_alloc(); });
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code == ErrorCode::kInternal);
  CHECK(master.loop.Read([](const MasterState&) {}).has_value());
  master.loop.Post(MakeCall(1));
  CHECK(Answered(master.effects.Await(1)[0]) == 1);
  REQUIRE(master.Finish().has_value());
  CHECK(ReasonOf(master.Logged(), read.error().message) == "std::bad_alloc");
}

TEST_CASE("a call that the store refuses twice is told an error id, and those committed with it only to try again") {
  const ErrorCode code = GENERATE(ErrorCode::kInternal, ErrorCode::kInvalidArgument, ErrorCode::kAborted);
  ToyMaster master;
  master.store.RefuseCommits(Refusing(code, AddsRequest(KeyOf(2))));
  master.gate.Shut();
  master.Start();
  master.loop.Post(MakeCall(1));
  master.gate.AwaitWaiting();
  for (const std::int64_t call : {2, 3}) master.loop.Post(MakeCall(call));
  master.AwaitHandled();
  master.gate.Open();
  const std::vector<Effect> first = master.effects.Await(3);
  CHECK(Answered(first[0]) == 1);
  CHECK(IsUnavailable(first[1]));
  CHECK(IsUnavailable(first[2]));

  for (const std::int64_t call : {3, 2}) master.loop.Post(MakeCall(call));
  const std::vector<Effect> second = master.effects.Await(5);
  CHECK(Answered(second[3]) == 3);
  CHECK(TextOf(second[3]).empty());
  CHECK(Answered(second[4]) == 2);
  const auto* refused = std::get_if<Error>(&std::get<Reply>(second[4]).answer);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == ErrorCode::kInternal);
  // While the state is loaded again the next call may be told to try again; it does, and is served.
  std::size_t answers = 5;
  for (std::int64_t call = 4;; ++call) {
    master.loop.Post(MakeCall(call));
    const Effect answer = master.effects.Await(++answers).back();
    if (!IsUnavailable(answer)) {
      CHECK(TextOf(answer).empty());
      break;
    }
  }
  REQUIRE(master.Finish().has_value());
  CHECK(master.database->stored.requests.size() == 3);
  for (const std::size_t told : {1, 2, 4}) {
    CHECK_THAT(TextOf(second[told]), !Catch::Contains("secret"));
    CHECK(ReasonOf(master.Logged(), TextOf(second[told])) == "a secret row");
  }
}

TEST_CASE("a refusal that loading mends isolates nobody") {
  ToyMaster master;
  master.store.FailNextCommit({ErrorCode::kAborted, "a secret row", {}});
  master.Start();
  master.loop.Post(MakeCall(1));
  CHECK(IsUnavailable(master.effects.Await(1)[0]));
  master.loop.Post(MakeCall(1));
  CHECK(TextOf(master.effects.Await(2)[1]).empty());
  REQUIRE(master.Finish().has_value());
}

// The stream that an effect ends; 0 if it ends none.
std::int64_t Ended(const Effect& effect) {
  const auto* end = std::get_if<EndSession>(&effect);
  return end == nullptr ? 0 : end->session.value;
}

TEST_CASE("a report that the store refuses twice is passed over when it comes again, and its neighbours are stored") {
  ToyMaster master;
  master.store.RefuseCommits(Refusing(ErrorCode::kInvalidArgument, AddsRequest(KeyOfReport(7))));
  master.Start();
  // As a node manager does: it registers on a new stream, and repeats what was not acknowledged.
  master.loop.Post(Registering("gpu-1", 1, {6, 7, 8}));
  CHECK(Ended(master.effects.Await(1)[0]) == 1);
  master.loop.Post(Registering("gpu-1", 2, {6, 7, 8}));
  CHECK(Ended(master.effects.Await(4)[3]) == 2);  // registration, report 6, report 7
  master.loop.Post(Registering("gpu-1", 3, {6, 7, 8}));
  master.loop.Post(MakeCall(1));
  const std::vector<Effect> effects = master.effects.Await(9);
  for (std::size_t i = 4; i < 8; ++i) CHECK(std::holds_alternative<SendOrders>(effects[i]));
  CHECK(TextOf(effects[8]).empty());
  REQUIRE(master.Finish().has_value());
  CHECK(master.database->stored.requests.contains(KeyOfReport(6)));
  CHECK_FALSE(master.database->stored.requests.contains(KeyOfReport(7)));
  CHECK(master.database->stored.requests.contains(KeyOfReport(8)));
}

TEST_CASE("a registration that the store refuses twice is passed over when it comes again") {
  ToyMaster master;
  master.store.RefuseCommits(Refusing(
      ErrorCode::kInvalidArgument, [](const StateChange& change) { return std::holds_alternative<AddOffer>(change); }));
  master.Start();
  for (std::int64_t stream = 1; stream <= 2; ++stream) {
    master.loop.Post(Registering("gpu-1", stream, {}));
    CHECK(Ended(master.effects.Await(static_cast<std::size_t>(stream)).back()) == stream);
  }
  master.loop.Post(Registering("gpu-1", 3, {}));
  master.loop.Post(MakeCall(1));
  CHECK(TextOf(master.effects.Await(4)[3]).empty());
  REQUIRE(master.Finish().has_value());
  CHECK(master.database->stored.offers.empty());
}

TEST_CASE("when what recovery changes is refused twice the loop ends, and answers everybody") {
  ToyMaster master;
  master.on_event = [&](const Event& event) {
    if (std::holds_alternative<Recovered>(event)) master.loop.Post(MakeCall(1));
  };
  master.recovery_edit = {AddRequest{KeyOf(0), {}}};
  master.store.RefuseCommits(Refusing(ErrorCode::kInternal, AddsRequest(KeyOf(0))));
  master.Start();
  master.thread.join();
  REQUIRE_FALSE(master.result.has_value());
  CHECK(master.result.error().code == ErrorCode::kInternal);
  for (const Effect& effect : master.effects.effects()) CHECK(IsUnavailable(effect));
  CHECK(master.database->stored.requests.empty());
}

TEST_CASE("while the database is away calls are answered at once; then the loop goes on") {
  ToyMaster master;
  master.store.FailNextLoads(3);
  master.loop.Post(MakeCall(1));
  master.Start();
  CHECK(IsUnavailable(master.effects.Await(1)[0]));
  Result<void> read = master.loop.Read([](const MasterState&) {});
  while (!read) read = master.loop.Read([](const MasterState&) {});
  master.loop.Post(MakeCall(2));
  master.effects.Await(2);
  REQUIRE(master.Finish().has_value());
  CHECK(master.database->stored.requests.size() == 1);
}

TEST_CASE("when another master leads the loop ends with that error, and answers everybody") {
  ToyMaster master;
  master.gate.Shut();
  master.Start();
  master.loop.Post(MakeCall(1));
  master.gate.AwaitWaiting();
  ++master.database->epoch;
  master.loop.Post(MakeCall(2));
  master.gate.Open();
  master.thread.join();
  REQUIRE_FALSE(master.result.has_value());
  CHECK(master.result.error().code == ErrorCode::kFailedPrecondition);
  master.loop.Post(MakeCall(3));
  const std::vector<Effect> effects = master.effects.Await(3);
  for (const Effect& effect : effects) CHECK(IsUnavailable(effect));
  CHECK_FALSE(master.loop.Read([](const MasterState&) {}).has_value());
  CHECK(master.database->stored.requests.empty());
}

TEST_CASE("stopping commits what has been handled, and answers what has not") {
  ToyMaster master;
  master.gate.Shut();
  master.Start();
  master.loop.Post(MakeCall(1));
  master.gate.AwaitWaiting();
  master.loop.Post(MakeCall(2));
  master.AwaitHandled();
  master.loop.Stop();
  master.loop.Post(MakeCall(3));
  master.gate.Open();
  master.thread.join();
  CHECK(master.result.has_value());
  const std::vector<Effect> effects = master.effects.Await(3);
  CHECK_FALSE(IsUnavailable(effects[0]));
  CHECK_FALSE(IsUnavailable(effects[1]));
  CHECK(IsUnavailable(effects[2]));
  CHECK(master.database->stored.requests.size() == 2);
}

TEST_CASE("an event that takes long does not age the messages that wait behind it, and time comes after them") {
  std::atomic<double> seconds = 100;
  EventLoopSettings settings{.tick_every = Seconds{0.5}};
  settings.moment = [&] { return Moment(Seconds(seconds)); };
  ToyMaster master(settings);
  Gate handling;
  std::promise<Tick> ticked;
  std::vector<NodeMessage> messages;
  master.on_event = [&](const Event& event) {
    if (std::holds_alternative<ClientCall>(event)) handling.Pass();
    if (const auto* message = std::get_if<NodeMessage>(&event)) messages.push_back(*message);
    const auto* tick = std::get_if<Tick>(&event);
    if (tick != nullptr && seconds.exchange(0) != 0) ticked.set_value(*tick);
  };
  handling.Shut();
  master.Start();
  master.loop.Post(MakeCall(1));
  handling.AwaitWaiting();
  seconds = 105;
  master.loop.Post(Message(1));
  seconds = 111;
  master.loop.Post(Message(2));
  seconds = 112;
  handling.Open();
  const Tick tick = ticked.get_future().get();
  REQUIRE(master.Finish().has_value());
  REQUIRE(messages.size() == 2);  // before the tick
  CHECK(messages[0].arrived == Moment(Seconds(105)));
  CHECK(messages[1].arrived == Moment(Seconds(111)));
  CHECK(tick.arrived == Moment(Seconds(112)));
  CHECK(tick.heard_until == Moment(Seconds(100)));
  CHECK(tick.paused);
}

TEST_CASE("a tick that is hardly late is no pause") {
  std::atomic<double> seconds = 100;
  EventLoopSettings settings{.tick_every = Seconds{0.5}};
  settings.moment = [&] { return Moment(Seconds(seconds)); };
  ToyMaster master(settings);
  std::promise<Tick> ticked;
  master.on_event = [&](const Event& event) {
    const auto* tick = std::get_if<Tick>(&event);
    if (tick != nullptr && seconds.exchange(0) != 0) ticked.set_value(*tick);
  };
  master.Start();
  REQUIRE(master.loop.Read([](const MasterState&) {}).has_value());
  seconds = 102;
  master.loop.Post(Message(1));  // wakes the loop
  const Tick tick = ticked.get_future().get();
  CHECK(tick.arrived == Moment(Seconds(102)));
  CHECK_FALSE(tick.paused);
}

TEST_CASE("time passes by itself") {
  ToyMaster master({.tick_every = Seconds{0.001}});
  master.Start();
  for (const Effect& effect : master.effects.Await(3)) CHECK(std::holds_alternative<EventsAdded>(effect));
}

}  // namespace
}  // namespace espalier::master
