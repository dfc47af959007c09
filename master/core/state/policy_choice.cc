#include "master/core/state/policy_choice.h"

namespace espalier::master {

Result<std::string> ParsePolicyName(std::string_view name) {
  ESPALIER_RETURN_IF_ERROR(MakePolicy(name));
  return std::string(name);
}

}  // namespace espalier::master
