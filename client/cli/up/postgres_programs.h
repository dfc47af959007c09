// Where PostgreSQL's programs are on this machine, and whom a cluster may belong to.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "client/cli/up/child_process.h"

namespace espalier {

// The folder that holds initdb and postgres: of version `major` if given ("15"), else the newest: Debian's
// /usr/lib/postgresql/MAJOR/bin, or what pg_config says. Error: kFailedPrecondition, saying what to install.
Result<std::string> FindPostgresPrograms(const std::optional<std::string>& major);

// The user that a cluster at `cluster_path` runs as: nothing for an ordinary user (he himself). For root: the owner of
// an existing cluster, else `postgres`, else `nobody`. Error: kFailedPrecondition if there is no such user.
Result<std::optional<SystemUser>> ClusterUser(const std::string& cluster_path);

}  // namespace espalier
