#include "master/loop/analyst.h"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace espalier::master {
namespace {

CurveQuestion LastValueQuestion(std::int64_t trial, double last) {
  return {.trial = TrialId{trial}, .at = {}, .curve = {last}, .target = 0.5};
}

}  // namespace

TEST_CASE("the analyst answers whatever is asked, in that order, and not while it is asked") {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<CurveAnalysed> told;
  Analyst analyst([&](const CurveAnalysed& answer) {
    const std::lock_guard lock(mutex);
    told.push_back(answer);
    changed.notify_one();
  });
  std::unique_lock lock(mutex);  // an answer within Ask would wait for it for good
  for (std::int64_t trial = 1; trial <= 100; ++trial) analyst.Ask(LastValueQuestion(trial, trial % 2 == 0 ? 0.5 : 0.4));
  changed.wait(lock, [&] { return told.size() == 100; });
  for (std::int64_t trial = 1; trial <= 100; ++trial) {
    CHECK(told[trial - 1].trial == TrialId{trial});
    CHECK(told[trial - 1].chance == (trial % 2 == 0 ? 1 : 0));
  }
}

}  // namespace espalier::master
