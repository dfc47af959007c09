#include "master/core/views/list_studies.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/check.h"
#include "master/core/views/study_summary.h"

namespace espalier::master {
namespace {

using StudyPlace = ListPlace<StudyId>;

constexpr char kNewestFirst = 'n';
constexpr char kBestFirst = 'b';

constexpr std::array<std::pair<TrialStanding, const char*>, kTrialStandingCount> kStandingNames = {{
    {TrialStanding::kWaiting, "pending"},
    {TrialStanding::kIdle, "idle"},
    {TrialStanding::kDone, "done"},
    {TrialStanding::kFailed, "failed"},
    {TrialStanding::kCancelled, "cancelled"},
}};

StudyListing ListingOf(const MasterState& state, const Study& study, Time now) {
  const TrialIndex& index = state.trial_index.at(study.id);
  StudyListing listing{.id = study.id,
                       .claimed_steps = index.claimed_steps(),
                       .elapsed = study.finished_at.value_or(now) - study.created_at,
                       .best = BestOf(state, study.id)};
  for (const auto& [standing, name] : kStandingNames) listing.trials_by_standing[name] = index.Count(standing);
  return listing;
}

bool IsWanted(const Study& study, const StudyQuery& query, const Caller& caller) {
  if (!MaySee(caller, study)) return false;
  if (!query.state.empty() && (query.state == "finished") != study.finished_at.has_value()) return false;
  return !query.best_by ||
         (query.best_by->metric == study.specification.metric && query.best_by->goal == study.specification.goal);
}

// All that are wanted, the best first; those that have no value last, the older first among equals.
std::vector<StudyPlace> RankByBest(const MasterState& state, const StudyQuery& query, const Caller& caller) {
  std::vector<StudyPlace> places;
  for (const auto& [id, study] : state.studies) {
    if (!IsWanted(study, query, caller)) continue;
    const std::optional<BestTrial>& best = state.trial_index.at(id).best();
    if (!best) {
      places.push_back({.unranked = true, .id = id});
    } else {
      places.push_back({.value = query.best_by->goal == Goal::kMaximize ? -best->value : best->value, .id = id});
    }
  }
  std::sort(places.begin(), places.end());
  return places;
}

// Calls `take` with each place after `after`, in order, until it says false.
template <class Take>
void EachStudy(const MasterState& state, const StudyQuery& query, const Caller& caller,
               const std::optional<StudyPlace>& after, const Take& take) {
  if (query.best_by) {
    const std::vector<StudyPlace> places = RankByBest(state, query, caller);
    auto place = after ? std::upper_bound(places.begin(), places.end(), *after) : places.begin();
    while (place != places.end() && take(*place)) ++place;
    return;
  }
  const auto end = after ? state.studies.lower_bound(after->id) : state.studies.end();
  for (auto it = std::make_reverse_iterator(end); it != state.studies.rend(); ++it) {
    if (IsWanted(it->second, query, caller) && !take(StudyPlace{.id = it->first})) return;
  }
}

}  // namespace

Result<StudyPage> ListStudies(const MasterState& state, const StudyQuery& query, const Caller& caller, Time now) {
  ESPALIER_CHECK(query.count_max >= 1) << "a page holds something";
  if (!query.state.empty() && query.state != "running" && query.state != "finished") {
    return MakeError(ErrorCode::kInvalidArgument, "expected running or finished, got '" + query.state + "'", "state");
  }
  const char list = query.best_by ? kBestFirst : kNewestFirst;
  ESPALIER_ASSIGN(const std::optional<StudyPlace> after, PlaceOf<StudyId>(list, query.token));
  StudyPage page;
  std::optional<StudyPlace> last;
  EachStudy(state, query, caller, after, [&](const StudyPlace& place) {
    if (page.studies.size() == query.count_max) {
      page.next_token = TokenOf(list, *last);
      return false;
    }
    page.studies.push_back(ListingOf(state, state.studies.at(place.id), now));
    last = place;
    return true;
  });
  return page;
}

}  // namespace espalier::master
