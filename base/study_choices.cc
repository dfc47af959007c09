#include "base/study_choices.h"

#include "base/enum_names.h"

namespace espalier {
namespace {

constexpr EnumName<Goal> kGoals[] = {{Goal::kMinimize, "min"}, {Goal::kMaximize, "max"}};
constexpr EnumName<Scope> kScopes[] = {
    {Scope::kNobody, "nobody"}, {Scope::kStudy, "study"}, {Scope::kTeam, "team"}, {Scope::kEveryone, "everyone"}};

constexpr EnumName<Keep> kKeeps[] = {
    {Keep::kBest, "best"}, {Keep::kAll, "all"}, {Keep::kNone, "none"}, {Keep::kClaimed, "claimed"}};

constexpr EnumName<CheckWhen> kCheckWhens[] = {
    {CheckWhen::kBeside, "beside"}, {CheckWhen::kFirst, "first"}, {CheckWhen::kOff, "off"}};

}  // namespace

std::string_view Name(Goal goal) { return NameIn(kGoals, goal); }

std::string_view Name(Scope scope) { return NameIn(kScopes, scope); }

std::string_view Name(Keep keep) { return NameIn(kKeeps, keep); }

std::string_view Name(CheckWhen when) { return NameIn(kCheckWhens, when); }

Result<Goal> ParseGoal(std::string_view name) { return ParseIn(kGoals, name); }

Result<Scope> ParseScope(std::string_view name) { return ParseIn(kScopes, name); }

Result<Keep> ParseKeep(std::string_view name) { return ParseIn(kKeeps, name); }

Result<CheckWhen> ParseCheckWhen(std::string_view name) { return ParseIn(kCheckWhens, name); }

}  // namespace espalier
