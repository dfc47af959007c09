#include "scheduler/policy.h"

#include <string>

#include "scheduler/policies/breadth_first.h"
#include "scheduler/policies/critical_path.h"
#include "scheduler/policies/throughput.h"

namespace espalier {
namespace {

template <class... Policies>
Result<std::unique_ptr<Policy>> MakeAmong(std::string_view name) {
  std::unique_ptr<Policy> policies[] = {std::make_unique<Policies>()...};
  std::string names;
  for (std::unique_ptr<Policy>& policy : policies) {
    if (policy->name() == name) return std::move(policy);
    names += (names.empty() ? "" : ", ") + std::string(policy->name());
  }
  return MakeError(ErrorCode::kInvalidArgument, "no policy '" + std::string(name) + "'; expected one of " + names);
}

}  // namespace

Result<std::unique_ptr<Policy>> MakePolicy(std::string_view name) {
  return MakeAmong<CriticalPathPolicy, BreadthFirstPolicy, ThroughputPolicy>(name);
}

}  // namespace espalier
