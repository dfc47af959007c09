#include "master/core/views/list_studies.h"

#include <catch2/catch.hpp>

#include "tests/unit/summary/state_builder.h"

namespace espalier::master {
namespace {

using Ids = std::vector<std::int64_t>;

const Caller kMember{"ann", "team"};

// All pages of a query, joined.
Ids ListAll(const MasterState& state, StudyQuery query, const Caller& caller = kMember) {
  Ids ids;
  do {
    const StudyPage page = ListStudies(state, query, caller, At(100)).value();
    CHECK(page.studies.size() <= query.count_max);
    CHECK((page.next_token.empty() || page.studies.size() == query.count_max));
    for (const StudyListing& study : page.studies) ids.push_back(study.id.value);
    query.token = page.next_token;
  } while (!query.token.empty());
  return ids;
}

// Studies 1 to 6, best: 0.5, 0.9, none, 0.9, of another team, 0.1 of those that minimize; 2 is finished.
struct SixStudies : StateBuilder {
  SixStudies() {
    Measured(Goal::kMaximize, 0.5);
    Measured(Goal::kMaximize, 0.9);
    AddTrial(AddStudy(), "0.1", 80);
    Measured(Goal::kMaximize, 0.9);
    team = "others";
    Measured(Goal::kMaximize, 0.95);
    team = "team";
    Measured(Goal::kMinimize, 0.1);
    Apply(state, FinishStudy{StudyId{2}, At(60)});
  }
  void Measured(Goal goal, double accuracy) {
    Claimed(AddTrial(AddStudy(Scope::kStudy, 10, goal), "0.1", 80), 20, accuracy);
  }
};

StudyQuery BestBy(Goal goal, std::size_t count) {
  return {.best_by = StudyQuery::BestBy{"test_acc", goal}, .count_max = count};
}

}  // namespace

TEST_CASE("a team's studies are listed the newest first, or the best by a metric, in pages of any size") {
  const SixStudies s;
  for (const std::size_t count : {1, 2, 5, 100}) {
    CHECK(ListAll(s.state, {.count_max = count}) == Ids{6, 4, 3, 2, 1});
    CHECK(ListAll(s.state, BestBy(Goal::kMaximize, count)) == Ids{2, 4, 1, 3});
  }
  CHECK(ListAll(s.state, BestBy(Goal::kMinimize, 3)) == Ids{6});
  CHECK(ListAll(s.state, {.best_by = StudyQuery::BestBy{"test_loss"}, .count_max = 3}).empty());
  CHECK(ListAll(s.state, {.state = "running", .count_max = 2}) == Ids{6, 4, 3, 1});
  CHECK(ListAll(s.state, {.state = "finished", .count_max = 2}) == Ids{2});
  CHECK(ListAll(s.state, {.count_max = 2}, {"bob", "others"}) == Ids{5});
}

TEST_CASE("pages of studies go on where the last one ended, whatever has changed meanwhile") {
  SixStudies s;
  const std::string newest = ListStudies(s.state, {.count_max = 2}, kMember, At(100))->next_token;
  const std::string best = ListStudies(s.state, BestBy(Goal::kMaximize, 2), kMember, At(100))->next_token;
  s.Measured(Goal::kMaximize, 0.99);  // 7, before the place in both orders
  s.Measured(Goal::kMaximize, 0.7);   // 8, behind the place of the best
  StudyQuery query{.count_max = 2, .token = newest};
  CHECK(ListAll(s.state, query) == Ids{3, 2, 1});
  query = BestBy(Goal::kMaximize, 2);
  query.token = best;
  CHECK(ListAll(s.state, query) == Ids{8, 1, 3});
}

TEST_CASE("a listed study says how far it is") {
  StateBuilder s;
  const StudyId study = s.AddStudy(Scope::kStudy, 10);
  const TrialId first = s.AddTrial(study, "0.1", 80);
  const TrialId second = s.AddTrial(study, "0.2", 80);
  s.Claimed(first, 20, 0.5);
  s.Claimed(first, 40, 0.4);
  s.AddClaim(second, 20);
  s.Close(s.AddTrial(study, "0.3", 80), true);
  const StudyListing listing = ListStudies(s.state, {.count_max = 1}, kMember, At(100))->studies.at(0);
  CHECK(listing.claimed_steps == 40);
  CHECK(listing.elapsed.count() == Approx(90));
  CHECK(listing.trials_by_standing ==
        std::map<std::string, std::int64_t>{{"pending", 1}, {"idle", 1}, {"done", 0}, {"failed", 0}, {"cancelled", 1}});
  REQUIRE(listing.best.has_value());
  CHECK(*listing.best == BestTrial{first, 0.5, Step{20}});
}

TEST_CASE("an unknown state of studies and tokens of other lists are refused, naming the field") {
  const SixStudies s;
  const auto field_of = [&](StudyQuery query) {
    const auto listed = ListStudies(s.state, query, kMember, At(100));
    return listed.has_value() ? "" : listed.error().field;
  };
  CHECK(field_of({.state = "asleep", .count_max = 2}) == "state");
  const std::string newest = ListStudies(s.state, {.count_max = 2}, kMember, At(100))->next_token;
  CHECK(field_of({.count_max = 2, .token = newest}).empty());
  StudyQuery best = BestBy(Goal::kMaximize, 2);
  best.token = newest;
  CHECK(field_of(best) == "page_token");
}

}  // namespace espalier::master
