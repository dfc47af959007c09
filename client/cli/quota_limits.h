// What teams and users may use: `quota`.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "base/result.h"
#include "client/json.h"
#include "espalier/v1/user.pb.h"

namespace espalier {

// As the command line gives them; none: stays as it is.
struct LimitOptions {
  std::optional<std::string> open_trials;
  std::optional<std::string> plan_nodes;
  std::optional<std::string> stored_bytes;
  std::optional<std::string> device_seconds;

  bool empty() const { return !open_trials && !plan_nodes && !stored_bytes && !device_seconds; }
};

// Each a number, of bytes with kB, MB, GB or TB behind it if there are many; or "none". Error: kInvalidArgument, of the
// option.
Result<void> Fill(const LimitOptions& options, v1::SetQuotaRequest& request);

// A row for each team and user that has a limit, and what else is to be said of it; nothing where nobody has one.
void PrintLimits(std::ostream& out, const v1::ListQuotasResponse& quotas);

// [{team, user, open_trials, plan_nodes, stored_bytes, device_seconds, stopped}]; each of what is counted {used,
// at_most}.
Json QuotasInJson(const v1::ListQuotasResponse& quotas);

}  // namespace espalier
