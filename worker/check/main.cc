// espalier-check: finds out for a node manager whether a trainer can be cut (docs/trainer_check.md).
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "worker/check/serve.h"
#include "worker/process/worker_family.h"

namespace {

// Dies with its parent. A parent that is gone before this line closed the socket, which is noticed.
bool FollowParent() {
  const pid_t parent = getppid();
  return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

std::string Family() {
  const char* own = std::getenv(espalier::worker::kFamilyVariable);
  return own == nullptr ? "" : own;
}

}  // namespace

int main(int argument_count, char** arguments) {
  auto asked = espalier::trainer_check::ParseArguments({arguments + 1, arguments + argument_count});
  if (!asked.has_value()) {
    std::cerr << asked.error().field << ": " << asked.error().message << '\n'
              << "usage: espalier-check FOLDER OFFER COMMAND... --fd N\n"
              << "N is a connected socket that speaks the trainer protocol; people use `espalier trainer check`.\n";
    return 2;
  }
  if (!FollowParent()) return 1;
  for (const int each : {SIGTERM, SIGINT, SIGPIPE}) signal(each, SIG_IGN);
  asked->family = Family();
  const espalier::Result<void> done = espalier::trainer_check::Serve(*asked);
  if (done.has_value()) return 0;
  std::cerr << done.error().message << std::endl;
  return 1;
}
