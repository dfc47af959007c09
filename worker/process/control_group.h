// Control groups of the kernel's second version. Whatever a process in one starts is in it too, though it leave its
// parent, its process group and its environment: so a group is killed whole, can be given a limit, and the kernel says
// of each what it has killed there. A group is a folder; what it is told and asked are files in it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace espalier::worker {

// The folders of the group that this process is in, one for each place where groups are mounted; none: they are of the
// first version only, or mounted nowhere. `root`: of the file system, "/" but for tests.
std::vector<std::filesystem::path> OwnControlGroups(const std::filesystem::path& root = "/");

// Writes one of a group's files; false, with errno: the kernel refuses it.
bool TellGroup(const std::filesystem::path& file, const std::string& text);

// Those in the group itself, without groups below it.
std::set<pid_t> ProcessesIn(const std::filesystem::path& group);

// The groups right below it.
std::vector<std::filesystem::path> GroupsBelow(const std::filesystem::path& group);

// Sends SIGKILL to all in the group and below it; in one go, so that none gets away by starting others, where the
// kernel can do that (5.14). Those that it found. REQUIRES: this process is not one of them.
std::set<pid_t> SignalGroup(const std::filesystem::path& group);

// Removes it with all groups below it, as far as nothing lives in them. Nothing to do: fine.
void RemoveGroup(const std::filesystem::path& group);

}  // namespace espalier::worker
