#include "base/goal_and_scope.h"

#include "base/enum_names.h"

namespace espalier {
namespace {

constexpr EnumName<Goal> kGoals[] = {{Goal::kMinimize, "min"}, {Goal::kMaximize, "max"}};
constexpr EnumName<Scope> kScopes[] = {
    {Scope::kNobody, "nobody"}, {Scope::kStudy, "study"}, {Scope::kTeam, "team"}, {Scope::kEveryone, "everyone"}};

}  // namespace

std::string_view Name(Goal goal) { return NameIn(kGoals, goal); }

std::string_view Name(Scope scope) { return NameIn(kScopes, scope); }

Result<Goal> ParseGoal(std::string_view name) { return ParseIn(kGoals, name); }

Result<Scope> ParseScope(std::string_view name) { return ParseIn(kScopes, name); }

}  // namespace espalier
