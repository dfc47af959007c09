// Who watches a study: what he is sent, what it costs the event loop, and when he is dropped.
#include <numeric>

#include "tests/unit/rpc/watchers.h"

namespace espalier::master::testing {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers From(std::int64_t first, std::int64_t last) {
  Numbers numbers(static_cast<std::size_t>(last - first + 1));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

TEST_CASE("many watchers of a study are each sent every event once, in order, and it is counted once a period") {
  Watchers watchers;
  watchers.Happen(5);
  for (int i = 0; i < 300; ++i) watchers.Watch();
  watchers.Run();
  CHECK(watchers.reads == 300 + 1);  // what was stored, for each; how far the study is, for all
  for (int i = 0; i < 10; ++i) {
    watchers.Happen(3);
    watchers.RunFor(Seconds{0.5});
  }
  CHECK(watchers.reads == 300 + 1 + 10);
  for (const auto& each : watchers.all) {
    CHECK(each->call.numbers == From(1, 35));
    CHECK(each->ProgressCount() == 11);
  }
  Watching& late = watchers.Watch(StudyId{7}, 34);
  watchers.Run();
  CHECK(watchers.reads == 300 + 1 + 10 + 1);
  CHECK(late.call.numbers == Numbers{34, 35});
  CHECK(late.ProgressCount() == 1);
}

TEST_CASE("counting takes a fiftieth of the event loop's time at most, whoever watches which study") {
  Watchers watchers({StudyId{7}, StudyId{8}});
  Watching& one = watchers.Watch(StudyId{7});
  Watching& other = watchers.Watch(StudyId{8});
  watchers.look_takes = Seconds{0.01};
  while (one.ProgressCount() + other.ProgressCount() == 0) watchers.Run();
  const Seconds first = watchers.now;
  while (one.ProgressCount() + other.ProgressCount() == 1) watchers.Run();
  CHECK(watchers.now - first >= Seconds{0.01 / 0.02});
  CHECK(one.ProgressCount() == 1);
  CHECK(other.ProgressCount() == 1);
}

TEST_CASE("where many watch a study its events are brought to them in rounds, and where one does at once") {
  Watchers watchers({StudyId{7}, StudyId{8}});
  for (int i = 0; i < 1000; ++i) watchers.Watch(StudyId{7});
  Watching& alone = watchers.Watch(StudyId{8});
  watchers.Run();
  const auto told = [&] {
    return std::ranges::count_if(watchers.all, [](const auto& each) { return !each->call.numbers.empty(); });
  };
  watchers.now += Seconds{0.01};
  watchers.Happen(1);
  watchers.Run(/*stands_still=*/true);
  CHECK(told() == 16);
  for (int i = 1; i <= 10; ++i) {
    watchers.Happen(1, StudyId{7});
    watchers.Happen(1, StudyId{8});
    watchers.now += Seconds{0.001};
    watchers.Run(/*stands_still=*/true);
    CHECK(alone.call.numbers == From(1, i));
  }
  CHECK(told() < 1 + 16 * 11);
  watchers.Run();
  for (const auto& each : watchers.all) {
    if (each.get() == &alone) continue;
    CHECK(each->call.numbers == From(1, 11));
    CHECK(std::ranges::count_if(each->call.responses, [](const auto& sent) { return sent.events_size() > 0; }) == 2);
  }
}

TEST_CASE("who takes nothing for half a minute is dropped, told what to do, and nobody else notices") {
  Watchers watchers;
  Watching& reader = watchers.Watch();
  Watching& sleeper = watchers.Watch();
  watchers.Run();
  sleeper.call.reads = false;
  watchers.Happen(1);
  watchers.RunFor(Seconds{29});
  watchers.Happen(1);
  CHECK_FALSE(sleeper.call.broken);
  watchers.RunFor(Seconds{3});
  REQUIRE(sleeper.call.broken);
  CHECK(sleeper.call.broken->code == ErrorCode::kUnavailable);  // who is told so calls again
  CHECK(sleeper.call.broken->message ==
        "nothing was read of this stream for 30 s, and it was ended; watch again, from the next event");
  watchers.Happen(1);
  watchers.RunFor(Seconds{60});
  CHECK(reader.call.numbers == From(1, 3));
  CHECK_FALSE(reader.call.broken);
  CHECK_FALSE(reader.call.ended);
  CHECK(sleeper.call.numbers == Numbers{1});
}

TEST_CASE("who waits for half a minute for an event is not dropped, nor is anybody when the pump has stood still") {
  Watchers watchers;
  Watching& watching = watchers.Watch();
  watchers.RunFor(Seconds{120});
  watching.call.reads = false;
  watchers.Happen(1);
  watchers.Run();
  watchers.now += Seconds{3600};
  watchers.Run();
  CHECK_FALSE(watching.call.broken);
}

TEST_CASE("who reads slowly misses nothing: what is not kept for him is asked for again, a thousand at a time") {
  Watchers watchers;
  Watching& slow = watchers.Watch();
  watchers.Run();
  slow.call.reads = false;
  for (int i = 0; i < 25; ++i) {
    watchers.Happen(1'000);
    watchers.RunAMoment();
  }
  const int reads = watchers.reads;
  CHECK(slow.call.numbers.size() == 1'000);
  slow.call.reads = true;
  watchers.RunAMoment();
  CHECK(slow.call.numbers == From(1, 25'000));
  CHECK(watchers.reads - reads <= 25);
  CHECK(watchers.reads - reads >= 10);
}

TEST_CASE("events that were not announced are asked for, and those before a watcher's first are not sent") {
  Watchers watchers;
  watchers.Happen(2'500);
  Watching& all = watchers.Watch();
  Watching& later = watchers.Watch(StudyId{7}, 2'400);
  watchers.Happen(1);  // before the event loop is asked for the others
  watchers.Run();
  watchers.Happen(2, StudyId{7}, /*is_announced=*/false);  // the master has recovered meanwhile
  watchers.Happen(1);
  watchers.RunAMoment();
  CHECK(all.call.numbers == From(1, 2'504));
  CHECK(later.call.numbers == From(2'400, 2'504));
}

TEST_CASE("a watcher whose token is revoked is sent nothing more, and is told so though nothing happens") {
  Watchers watchers;
  Watching& busy = watchers.Watch(StudyId{7});
  Watching& idle = watchers.Watch(StudyId{7});
  watchers.Run();
  busy.call.admitted = MakeError(ErrorCode::kUnauthenticated, "nobody has this token");
  watchers.Happen(1);
  watchers.Run();
  CHECK(busy.call.numbers.empty());
  CHECK(busy.call.ended.value().error().code == ErrorCode::kUnauthenticated);
  idle.call.admitted = busy.call.admitted;
  watchers.RunFor(Seconds{0.5});
  CHECK(idle.call.ended.value().error().code == ErrorCode::kUnauthenticated);
}

TEST_CASE("a watcher whose token is another's now sees what that one may see") {
  Watchers watchers;
  Watching& watching = watchers.Watch();
  watchers.Run();
  watching.call.admitted = Caller{.user = "bob", .team = "speech"};
  watchers.Happen(1);
  watchers.Run();
  CHECK(watching.call.numbers.empty());
  CHECK(watching.call.ended.value().error().code == ErrorCode::kNotFound);
}

TEST_CASE("streams end when the study does, when the state is loaded anew, and when the master stops") {
  Watchers watchers({StudyId{7}, StudyId{8}});
  Watching& finished = watchers.Watch(StudyId{8});
  watchers.Run();
  watchers.watch.Announce({.study = StudyId{8}, .first = 1, .events = {StudyFinished{}}, .times = {Time{}}});
  watchers.Run();
  CHECK(finished.call.ended.value().has_value());

  Watching& recovering = watchers.Watch();
  watchers.Run();
  watchers.is_away = true;
  watchers.RunFor(Seconds{0.5});
  CHECK(recovering.call.ended.value().error().code == ErrorCode::kUnavailable);
  watchers.is_away = false;

  Watching& idle = watchers.Watch();
  Watching& sleeper = watchers.Watch();
  watchers.Run();
  sleeper.call.reads = false;
  watchers.Happen(1);
  watchers.Run();
  watchers.watch.Stop();
  watchers.Run();
  CHECK(idle.call.ended.value().error().code == ErrorCode::kUnavailable);
  CHECK(sleeper.call.broken.value().message == "the master is stopping; try again");
  Watching& late = watchers.Watch();
  watchers.Run();
  CHECK(late.call.ended.value().error().message == "the master is stopping; try again");
}

}  // namespace espalier::master::testing
