// Ends what a killed PostgreSQL left behind. Its backends each lead a session of their own and hold the cluster's
// shared memory: no new server can start on the cluster until they are gone.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "client/cli/up/child_process.h"

namespace espalier {

// Ends every PostgreSQL process that works in the cluster (whose current folder it is): those that are about to end
// have a moment to do so, the rest is killed. Then removes the cluster's stale postmaster.pid. Acts as the cluster's
// user, and so can harm nobody else's processes. Error: kInternal if some do not go. REQUIRES: no server of this
// cluster is wanted to run.
Result<void> EndLeftOverBackends(const std::string& cluster_path, int cluster, const std::optional<SystemUser>& user);

}  // namespace espalier
