// espalier-worker --fd N: the process that trains on a slot, for the node manager at the other end of socket N.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "base/failpoint.h"
#include "base/log.h"
#include "worker/trainer/registry.h"
#include "worker/trainer/session.h"
#include "worker/trainer/torch_device.h"

namespace {

constexpr int kThreadCount = 1;

// Dies with its parent. A parent that is gone before this line closed the socket, which the session notices.
bool FollowParent() {
  const pid_t parent = getppid();
  return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

// Negative if the arguments are wrong.
int ParseFd(int argument_count, char** arguments) {
  if (argument_count != 3 || std::string_view(arguments[1]) != "--fd") return -1;
  const std::string_view text = arguments[2];
  int fd = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fd);
  return error == std::errc() && end == text.data() + text.size() ? fd : -1;
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const int fd = ParseFd(argument_count, arguments);
  if (fd < 0) {
    std::cerr << "usage: espalier-worker --fd N\nN is a connected socket that speaks the trainer protocol.\n";
    return 2;
  }
  if (!FollowParent()) return 1;
  espalier::SetUpLog("worker");
  const auto armed =
      espalier::ArmFailpoints(Environment("ESPALIER_FAILPOINTS"), Environment("ESPALIER_FAILPOINT_MARKER"));
  if (!armed.has_value()) {
    std::cerr << armed.error().message << "\n";
    return 2;
  }
  espalier::trainer::SetUpDevice(kThreadCount);
  const auto served =
      espalier::trainer::ServeSession(fd, espalier::trainer::BuiltInTrainers(), espalier::trainer::DeviceKind());
  if (!served.has_value()) espalier::Log(espalier::LogLevel::kError, served.error().message);
  // Without the libraries' own clean-up, which takes a tenth of a second and frees only what the system frees anyway.
  std::_Exit(served.has_value() ? 0 : 1);
}
