#include "master/core/views/list_runs.h"

#include "master/core/state/list_place.h"

namespace espalier::master {
namespace {

constexpr char kRunList = 'r';  // in its tokens
using RunPlace = ListPlace<RunId>;

}  // namespace

Result<RunPage> ListRuns(const MasterState& state, StudyId study, std::size_t count_max, const std::string& token) {
  ESPALIER_ASSIGN(const std::optional<RunPlace> after, PlaceOf<RunId>(kRunList, token));
  RunPage page;
  const auto of_study = state.index.runs_of_study.find(study);
  if (of_study == state.index.runs_of_study.end()) return page;
  const std::set<RunId>& runs = of_study->second;
  for (auto run = after ? runs.upper_bound(after->id) : runs.begin(); run != runs.end(); ++run) {
    if (page.runs.size() == count_max) {
      page.next_token = TokenOf(kRunList, RunPlace{.id = page.runs.back()});
      break;
    }
    page.runs.push_back(*run);
  }
  return page;
}

}  // namespace espalier::master
