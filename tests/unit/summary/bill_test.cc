// Who used what (master/core/views/bill.h).
#include "master/core/views/bill.h"

#include <catch2/catch.hpp>

#include "tests/unit/summary/state_builder.h"

namespace espalier::master {
namespace {

Time AtSecond(std::int64_t seconds) { return Time{std::chrono::seconds(seconds)}; }

// A run of 30 s for studies of two teams, and one of 20 s for the first alone, which a third holds on.
struct TwoTeamsWork {
  TwoTeamsWork() {
    Apply(s.state, SetUser{{.name = "ann", .team = "team", .token_sha256 = std::string(64, 'a')}});
    Apply(s.state, SetUser{{.name = "root", .team = "team", .role = Role::kAdministrator}});
    const StudyId ours = s.AddStudy(Scope::kEveryone);
    s.team = "other";
    const StudyId theirs = s.AddStudy(Scope::kEveryone);
    const TrialId trial = s.AddTrial(ours, "0.1", 80);
    s.EndRun(s.AddRun({ours, theirs}, trial, 0, 80), 30);
    s.EndRun(s.AddRun({ours}, trial, 0, 80), 20);
    s.AddRun({theirs}, trial, 0, 80, 100);
  }

  StateBuilder s;
};

}  // namespace

TEST_CASE("teams' bills add up to what runs held, and say what was shared") {
  const TwoTeamsWork of;
  const std::vector<TeamBill> bills = BillFor({"root", "team"}, of.s.state, AtSecond(110));
  REQUIRE(bills.size() == 2);
  CHECK(bills[0].team == "other");
  CHECK(bills[0].use.device.count() == Approx(15 + 10));
  CHECK(bills[0].use.shared.count() == Approx(15));
  CHECK(bills[0].slots == Approx(1));
  CHECK(bills[1].team == "team");
  CHECK(bills[1].use.device.count() == Approx(15 + 20));
  CHECK(bills[1].use.shared.count() == Approx(15));
  CHECK(bills[1].slots == Approx(0));
}

TEST_CASE("a member sees the bill of the own team alone") {
  const TwoTeamsWork of;
  const std::vector<TeamBill> bills = BillFor({"ann", "team"}, of.s.state, AtSecond(110));
  REQUIRE(bills.size() == 1);
  CHECK(bills[0].team == "team");
}

TEST_CASE("sharing has saved what each trial would have taken alone, less what the study was charged") {
  StateBuilder s;
  const StudyId study = s.AddStudy();
  const TrialId first = s.AddTrial(study, "MultiStep(0.1, [40], 0.1)", 80);
  const TrialId second = s.AddTrial(study, "MultiStep(0.1, [40], 0.2)", 80);
  s.ClaimedTogether({{first, 80}, {second, 80}});
  s.EndRun(s.Trained({study}, first, 0, 80), 85);
  s.EndRun(s.Trained({study}, second, 40, 80), 45);
  const Use use = UseOf(s.state, study, AtSecond(500));
  CHECK(use.device.count() == Approx(130));
  CHECK(use.shared.count() == 0);
  CHECK(use.saved.count() == Approx(2 * 80 - 130));
}

}  // namespace espalier::master
