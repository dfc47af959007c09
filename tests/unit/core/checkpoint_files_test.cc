// Several files of one point: which one counts, and what is said of which (law 6).
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

// A trial of 40 steps whose state was stored in the file "first", from which run 2 is to go on to step 80.
struct OneFile : ServerByHand {
  OneFile() : ServerByHand(1) {
    const TrialId trial = Submit(study, {{"lr", "0.1"}}, 40, 80);
    point = {Last().path.front().node, Step{40}};
    Store(Last(), point, "first", "state");
    Measure(Last(), point);
    End(Last(), point.step);
    Claim(trial, 80);
    REQUIRE(Last().start_file == "first");
  }
  // The run says that the file it was to start from is damaged.
  void Damaged(RunId run) {
    Report(RunOf(run), StartUnusable{.point = point, .file = "first", .why = "checksum"});
    End(RunOf(run), point.step);
  }
  std::string File() const {
    const Checkpoint* stands = Plan().FindCheckpoint(point);
    return stands == nullptr ? "" : stands->file;
  }

  Point point;
  const RunId second{2};
};

}  // namespace

TEST_CASE("a damaged file is dropped, and its state is trained again") {
  OneFile of;
  of.Damaged(of.second);
  CHECK(of.File().empty());
  REQUIRE(of.Last().id != of.second);
  CHECK_FALSE(of.Last().start.has_value());
}

TEST_CASE("a late report of a damaged file leaves alone the file that replaced it") {
  OneFile of;
  of.Damaged(of.second);
  const RunId third = of.Last().id;
  of.Store(of.Last(), of.point, "second", "state");
  REQUIRE(of.File() == "second");
  of.Damaged(of.second);  // again
  CHECK(of.File() == "second");
  of.Restart();
  of.Damaged(of.second);
  CHECK(of.File() == "second");
  CHECK(of.RunOf(third).training());
}

TEST_CASE("a state that comes out otherwise when it is trained again is taken where no file of the first is left") {
  OneFile of;
  of.Damaged(of.second);
  of.Store(of.Last(), of.point, "second", "other state");
  CHECK(of.File() == "second");
  REQUIRE(of.Plan().FindStateDigest(of.point) != nullptr);
  CHECK(of.Plan().FindStateDigest(of.point)->sha256 == "other state");
  CHECK(of.Plan().FindStateDigest(of.point)->disputed);
  const bool is_told = std::any_of(of.log.begin(), of.log.end(), [](const std::string& line) {
    return line.find("came out otherwise") != std::string::npos;
  });
  CHECK(is_told);
}

TEST_CASE("a state that comes out otherwise changes nothing while the first one's file stands, which is said") {
  OneFile of;
  of.Store(of.Last(), of.point, "second", "other state");
  CHECK(of.File() == "first");
  CHECK(of.Plan().FindStateDigest(of.point)->sha256 == "state");
  const bool is_told = std::any_of(of.log.begin(), of.log.end(), [](const std::string& line) {
    return line.find("the stored one stays") != std::string::npos;
  });
  CHECK(is_told);
  CHECK(of.servers[0].orders->superseded_files == std::vector<std::string>{"second"});
}

}  // namespace espalier::master
