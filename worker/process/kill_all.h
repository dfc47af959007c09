// Killing processes of which new ones may be started meanwhile.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>

namespace espalier::worker {

// Kills those that `living` lists, and asks it again until it lists none, for some seconds at most; those that have
// become this process's children are waited for. How many there were.
int KillAll(const std::function<std::set<pid_t>()>& living);

}  // namespace espalier::worker
