// What a caller may know. A study, with all that is said of it, shows itself to its user's team, whatever its scope; to
// others it does not exist, and errors must not tell it from one that never was. Its user alone changes it. The scope
// says who shares the training: a plan of everyone tells others what is trained, never by whom or for what.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

// As the token said.
struct Caller {
  std::string user;
  std::string team;
  std::vector<std::string> servers = {};  // that a node manager may be
};

bool MaySee(const Caller& caller, const Study& study);

// O(log users).
bool IsAdministrator(const MasterState& state, const Caller& caller);

// Error: kNotFound.
Result<const Study*> FindStudy(const MasterState& state, StudyId id, const Caller& caller);

// The newest of the caller's own of that name, else the newest of a team mate's. Error: kNotFound.
Result<const Study*> FindStudyNamed(const MasterState& state, const std::string& name, const Caller& caller);

// Of a study that the caller may see. Error: kNotFound.
Result<const Trial*> FindTrial(const MasterState& state, TrialId id, const Caller& caller);

// For changing it. Error: kNotFound; kFailedPrecondition when it is a team mate's.
Result<const Study*> FindOwnStudy(const MasterState& state, StudyId id, const Caller& caller);

// Whether some study that the team may see is among those that the run serves or has served.
bool IsForTeam(const MasterState& state, const Run& run, const std::string& team);

// Whether the plan is shared by all teams: what some of them asked of it is then no matter of the others.
bool IsOfEveryone(const SearchPlan& plan);

// Whether the team may know what was measured in the plan: one of everyone, or of the team's own studies.
bool MayKnow(const MasterState& state, const SearchPlan& plan, const std::string& team);

}  // namespace espalier::master
