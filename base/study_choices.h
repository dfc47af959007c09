// Choices of every study, which clients, the master and the database name alike.
#pragma once

#include <string_view>

#include "base/result.h"

namespace espalier {

// Which way the study's metric is better.
enum class Goal { kMinimize, kMaximize };

// With whom the study shares what was trained.
enum class Scope { kNobody, kStudy, kTeam, kEveryone };

// Which of a study's states are never evicted: that of its best result; each trial's, where its furthest claim is done;
// none; each trial's, wherever a claim of it is done.
enum class Keep { kBest, kAll, kNone, kClaimed };

// When the study's trainer is checked, if it is of a user's own code: in slots where nothing trains, while the study
// goes on; before anything is trained; never, whatever is known of it.
enum class CheckWhen { kBeside, kFirst, kOff };

// "min", "max"; "nobody", "study", "team", "everyone"; "best", "all", "none"; "beside", "first",
// "off".
std::string_view Name(Goal goal);
std::string_view Name(Scope scope);
std::string_view Name(Keep keep);
std::string_view Name(CheckWhen when);

// Error: kInvalidArgument, with what is expected.
Result<Goal> ParseGoal(std::string_view name);
Result<Scope> ParseScope(std::string_view name);
Result<Keep> ParseKeep(std::string_view name);
Result<CheckWhen> ParseCheckWhen(std::string_view name);

}  // namespace espalier
