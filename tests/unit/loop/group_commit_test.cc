// The rule of batches and releases, without threads: what the caller is told to do, commit by commit.
#include "master/loop/group_commit.h"

#include <catch2/catch.hpp>
#include <set>

namespace espalier::master {
namespace {

Moment At(double seconds) { return Moment(Seconds(seconds)); }

StateChange Change(std::int64_t number) { return AddRequest{{StudyId{1}, std::to_string(number)}, {}}; }

// Of a call: somebody waits for the reply.
Transition Answering(std::int64_t number) { return {{Change(number)}, {Reply{CallId{number}, StudyCreated{}}}}; }
// Of a report: its acknowledgement may be late.
Transition Acknowledging(std::int64_t number) { return {{Change(number)}, {SendOrders{SessionId{number}, {}}}}; }

// "call 1", "orders 2", "read 3", in order.
std::vector<std::string> Names(const Batch& batch) {
  std::vector<std::string> names;
  for (const Release& release : batch.releases) {
    if (const auto* read = std::get_if<ReadId>(&release)) {
      names.push_back("read " + std::to_string(read->value));
      continue;
    }
    const Effect& effect = std::get<Effect>(release);
    if (const auto* reply = std::get_if<Reply>(&effect)) names.push_back("call " + std::to_string(reply->call.value));
    if (const auto* orders = std::get_if<SendOrders>(&effect)) {
      names.push_back("orders " + std::to_string(orders->session.value));
    }
  }
  return names;
}

using Strings = std::vector<std::string>;

TEST_CASE("while a batch is on its way the next one gathers, and leaves in the order of its events") {
  GroupCommit group({.longest_patience = Seconds{1000}});
  group.Handled(Answering(1), At(1));
  REQUIRE(group.CommitTime(false) == At(1));
  CHECK(Names(group.Start()) == Strings{"call 1"});
  group.Handled(Acknowledging(2), At(2));
  CHECK_FALSE(group.Seen(ReadId{3}, At(3)));
  group.Handled(Answering(4), At(4));
  CHECK(group.CommitTime(false) == std::nullopt);
  group.Committed();
  REQUIRE(group.CommitTime(false) == At(3));  // as the read came
  const Batch batch = group.Start();
  CHECK(batch.edit.size() == 2);
  CHECK(Names(batch) == Strings{"orders 2", "read 3", "call 4"});
}

TEST_CASE("of one stream's orders a batch sends the newest, and all files that nobody needs") {
  const auto orders = [](std::int64_t session, std::int64_t acknowledged, const std::vector<std::string>& files) {
    return Transition{{Change(acknowledged)},
                      {SendOrders{SessionId{session},
                                  {.orders = {}, .acknowledged_report = acknowledged, .superseded_files = files}}}};
  };
  GroupCommit group({});
  group.Handled(orders(1, 1, {"a"}), At(1));
  group.Handled(orders(2, 2, {}), At(1));
  group.Handled(orders(1, 3, {"b"}), At(1));
  group.Handled(Answering(4), At(1));
  const Batch batch = group.Start();
  CHECK(batch.edit.size() == 4);
  REQUIRE(Names(batch) == Strings{"orders 2", "orders 1", "call 4"});
  const ServerOrders& newest = std::get<SendOrders>(std::get<Effect>(batch.releases[1])).orders;
  CHECK(newest.acknowledged_report == 3);
  CHECK(std::set<std::string>(newest.superseded_files.begin(), newest.superseded_files.end()) ==
        std::set<std::string>{"a", "b"});
}

TEST_CASE("what nobody waits for is held open for company, until somebody waits") {
  GroupCommit group({.patience = Seconds{0.5}, .longest_patience = Seconds{0.5}});
  group.Handled(Acknowledging(1), At(10));
  group.Handled(Acknowledging(2), At(10.2));
  CHECK(group.CommitTime(false) == At(10.5));
  SECTION("a call") { group.Handled(Answering(3), At(10.3)); }
  SECTION("a read") { CHECK_FALSE(group.Seen(ReadId{3}, At(10.3))); }
  CHECK(group.CommitTime(false) == At(10.3));
  (void)group.Start();
  group.Committed();
  group.Handled(Acknowledging(4), At(20));
  CHECK(group.CommitTime(false) == At(20.5));  // who waited has been served
}

TEST_CASE("acknowledgements alone wait longer for company than work and metrics do") {
  GroupCommit group({.patience = Seconds{0.5}, .longest_patience = Seconds{5}});
  group.Handled(Acknowledging(1), At(10));
  CHECK(group.CommitTime(false) == At(15));
  const StateChange work = GENERATE(as<StateChange>(), AddRun{}, SetTerms{}, ChangePlan{{}, AddMetrics{}});
  SECTION("it comes soon") {
    group.Handled({{work}, {SendOrders{SessionId{2}, {}}}}, At(12));
    CHECK(group.CommitTime(false) == At(12.5));
    group.Handled(Acknowledging(3), At(12.1));
    CHECK(group.CommitTime(false) == At(12.5));
  }
  SECTION("it comes late") {
    group.Handled({{work}, {SendOrders{SessionId{2}, {}}}}, At(14.9));
    CHECK(group.CommitTime(false) == At(15));
  }
}

TEST_CASE("a read of what is durable waits for nothing, one of what is not for its commit") {
  GroupCommit group({});
  CHECK(group.Seen(ReadId{1}, At(1)));
  group.Handled(Answering(2), At(2));
  CHECK_FALSE(group.Seen(ReadId{3}, At(3)));
  (void)group.Start();
  CHECK_FALSE(group.Seen(ReadId{4}, At(4)));
  group.Committed();
  CHECK(Names(group.Start()) == Strings{"read 4"});
  group.Committed();
  CHECK(group.Seen(ReadId{5}, At(5)));
}

TEST_CASE("a full batch takes no more and waits for no company, and the next one does again") {
  GroupCommit group({.longest_patience = Seconds{1000}, .change_count_max = 2});
  group.Handled(Acknowledging(1), At(1));
  CHECK(group.MayHandle(false));
  group.Handled(Acknowledging(2), At(2));
  CHECK_FALSE(group.MayHandle(false));
  CHECK(group.CommitTime(false) == At(1));
  (void)group.Start();
  CHECK(group.MayHandle(false));
  Transition large = Acknowledging(3);
  large.edit.resize(7, Change(3));
  group.Handled(std::move(large), At(3));  // one event may bring more than there is room for
  CHECK_FALSE(group.MayHandle(false));
  group.Committed();
  CHECK(group.Start().edit.size() == 7);
}

TEST_CASE("events that are to be alone are handled when everything before them is durable") {
  GroupCommit group({.longest_patience = Seconds{1000}});
  CHECK(group.MayHandle(true));
  group.Handled(Acknowledging(1), At(1));
  CHECK_FALSE(group.MayHandle(true));
  CHECK(group.CommitTime(true) == At(1));
  (void)group.Start();
  CHECK_FALSE(group.MayHandle(true));
  group.Committed();
  CHECK(group.MayHandle(true));
}

TEST_CASE("a commit that fails takes along all that was gathered after it") {
  GroupCommit group({});
  group.Handled(Answering(1), At(1));
  (void)group.Start();
  group.Handled(Answering(2), At(2));
  group.Failed();
  CHECK(group.IsIdle());
  CHECK(group.CommitTime(false) == std::nullopt);
  group.Handled(Answering(3), At(3));
  CHECK(Names(group.Start()) == Strings{"call 3"});
}

TEST_CASE("an event that changes and says nothing needs no commit") {
  GroupCommit group({});
  group.Handled({}, At(1));
  CHECK(group.IsIdle());
}

}  // namespace
}  // namespace espalier::master
