#include "master/rpc/study_watch.h"

#include <catch2/catch.hpp>
#include <thread>

namespace espalier::master {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr StudyId kStudy{7};

// Events that say their own numbers.
EventsAdded Events(std::int64_t first, std::int64_t count, StudyId study = kStudy) {
  EventsAdded added{.study = study, .first = first, .events = {}};
  for (std::int64_t i = 0; i < count; ++i) added.events.emplace_back(TrialSubmitted{TrialId{first + i}});
  return added;
}

using Numbers = std::vector<std::int64_t>;

// Empty: none were given.
Numbers Next(StudyWatch::Listener& listener, std::int64_t next, milliseconds at_most = hours{1}) {
  Numbers numbers;
  for (const StudyEvent& event : listener.Next(next, at_most).value_or(std::vector<StudyEvent>())) {
    numbers.push_back(std::get<TrialSubmitted>(event).trial.value);
  }
  return numbers;
}

}  // namespace

TEST_CASE("a listener is given its study's new events once, from where it asks") {
  StudyWatch watch;
  StudyWatch::Listener listener(watch, kStudy);
  StudyWatch::Listener other(watch, kStudy);
  watch.Announce(Events(501, 2));
  watch.Announce(Events(1, 1, StudyId{8}));
  watch.Announce(Events(503, 1));
  CHECK(Next(listener, 502) == Numbers{502, 503});
  CHECK(Next(listener, 504, milliseconds{0}).empty());
  watch.Announce(Events(504, 1));
  CHECK(Next(listener, 504) == Numbers{504});
  CHECK(Next(other, 501) == Numbers{501, 502, 503, 504});
}

TEST_CASE("a listener that waits is woken by its study's events") {
  StudyWatch watch;
  StudyWatch::Listener listener(watch, kStudy);
  std::jthread announcing([&] { watch.Announce(Events(1, 1)); });
  CHECK(Next(listener, 1) == Numbers{1});
}

TEST_CASE("a listener that has missed events is told so at once, and goes on behind them") {
  StudyWatch watch;
  StudyWatch::Listener listener(watch, kStudy);
  watch.Announce(Events(1, 2));
  watch.Announce(Events(5, 1));  // the master has recovered in between
  CHECK(Next(listener, 1).empty());
  CHECK(Next(listener, 5) == Numbers{5});
  watch.Announce(Events(6, 9'999));
  watch.Announce(Events(10'005, 2));  // more than is kept
  CHECK(Next(listener, 6).empty());
  CHECK(Next(listener, 10'005) == Numbers{10'005, 10'006});
  watch.Announce(Events(10'007, 20'000));
  CHECK(Next(listener, 10'007).empty());
  watch.Announce(Events(30'007, 1));
  CHECK(Next(listener, 30'007) == Numbers{30'007});
}

TEST_CASE("nobody waits once the watch is stopped") {
  StudyWatch watch;
  StudyWatch::Listener listener(watch, kStudy);
  std::jthread stopping([&] { watch.Stop(); });
  CHECK(Next(listener, 1).empty());
  CHECK(Next(listener, 1).empty());
  CHECK(watch.stopped());
}

}  // namespace espalier::master
