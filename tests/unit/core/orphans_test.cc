// Which files of the store nobody needs.
#include "master/core/views/orphans.h"

#include <catch2/catch.hpp>

#include "protocol/store_name.h"
#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

using Files = std::vector<std::string>;

// A trial of 40 steps whose state is stored, as node managers name files; its run has ended.
struct StoredState : ServerByHand {
  StoredState() : ServerByHand(1) {
    trial = Submit(study, {{"lr", "0.1"}}, 40, 80);
    point = {Last().path.front().node, Step{40}};
    file = NameOf(Last(), point);
    Store(Last(), point, file);
    Measure(Last(), point);
    End(Last(), point.step);
  }
  std::string NameOf(const Run& run, Point at) const { return StoreName(run.plan, at, {run.leadership, run.id}); }
  Files Orphans(const Files& files) const { return OrphansAmong(state(), files); }

  TrialId trial;
  Point point;
  std::string file;
};

}  // namespace

TEST_CASE("a file is an orphan if its run has ended and no checkpoint names it") {
  StoredState of;
  const Run run = of.Last();
  REQUIRE(run.ended());
  const std::string elsewhere = of.NameOf(run, {of.point.node, Step{30}});
  CHECK(of.Orphans({of.file, elsewhere}) == Files{elsewhere});
}

TEST_CASE("what a run under way may have stored is no orphan, until the run has ended") {
  StoredState of;
  of.Claim(of.trial, 80);
  const Run run = of.Last();
  REQUIRE(run.training());
  const std::string next = of.NameOf(run, {of.point.node, Step{60}});
  CHECK(of.Orphans({next}).empty());
  of.End(run, Step{80}, {Step{80}});
  REQUIRE_FALSE(of.RunOf(run.id).ended());  // its last state is on its way
  CHECK(of.Orphans({next}).empty());
  of.Store(run, {of.point.node, Step{80}}, of.NameOf(run, {of.point.node, Step{80}}));
  REQUIRE(of.RunOf(run.id).ended());
  CHECK(of.Orphans({next}) == Files{next});
}

TEST_CASE("what a run starts from is no orphan, even if the plan has dropped it") {
  StoredState of;
  of.Claim(of.trial, 80);
  const Run run = of.Last();
  REQUIRE(run.start_file == of.file);
  of.Report(run, StartUnusable{.point = of.point, .file = of.file, .why = "checksum"});
  REQUIRE(of.Plan().FindCheckpoint(of.point) == nullptr);
  CHECK(of.Orphans({of.file}).empty());
  of.End(run, of.point.step);
  CHECK(of.Orphans({of.file}) == Files{of.file});
}

TEST_CASE("files of another service, or that are no checkpoints, are left alone") {
  StoredState of;
  const Run run = of.Last();
  const RunKey others{LeadershipId{run.leadership.value + 1}, run.id};
  const RunKey unknown{run.leadership, RunId{999}};
  CHECK(of.Orphans({StoreName(run.plan, of.point, others), StoreName(run.plan, of.point, unknown), "first", "notes.txt",
                    of.file + "x", ""})
            .empty());
}

}  // namespace espalier::master
