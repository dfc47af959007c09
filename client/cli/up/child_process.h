// How `up` starts a process. Every child leads a process group of its own, so that Ctrl-C reaches `up` alone; reads
// nothing; writes into a log file; and is sent its death signal by the kernel if `up` dies, however that happens.
// Thread rule: the death signal follows the thread that started the child, so that thread must live as long as the
// child.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace espalier {

struct SystemUser {
  uid_t user = 0;
  gid_t group = 0;
  std::string name;
};

struct ChildCommand {
  std::vector<std::string> arguments;        // the program's path first
  std::string log_file;                      // output and errors are appended to it
  int death_signal = SIGKILL;                // sent when `up` dies
  std::optional<SystemUser> user{};          // unset: the caller's own
  std::vector<int> inherited_descriptors{};  // stay open in the child, under the same numbers
};

// Starts the program in directory "/". A program that cannot be executed ends with status 127 and says why in its log.
// Error: kInternal if there can be no such process or log.
Result<pid_t> StartChild(const ChildCommand& command);

// Moves a log file of more than 8 MiB to FILE.1, in place of the one before it.
void RotateLog(const std::string& log_file);

// "exit status 1", "signal 9 (Killed)", from what wait() said.
std::string DescribeEnd(int wait_status);

// Makes processes whose parent died before them children of this one, so that none is left behind.
void AdoptOrphans();
// Kills and reaps every remaining child of this process.
void KillRemainingChildren();

}  // namespace espalier
