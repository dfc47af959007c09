#include "client/cli/up/stop_signals.h"

#include <poll.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cmath>

#include "client/cli/up/system_error.h"

namespace espalier {

namespace {

bool IsIgnored(int number) {
  struct sigaction action;
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Result<StopSignals> StopSignals::Create() {
  signal(SIGCHLD, SIG_DFL);  // ignored, it would take the children's ends away
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    if (!IsIgnored(number)) sigaddset(&signals, number);
  }
  sigset_t before;
  if (sigprocmask(SIG_BLOCK, &signals, &before) != 0) return SystemError("block signals");
  FileDescriptor descriptor(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor.IsOpen()) return SystemError("wait for signals");
  return StopSignals(std::move(descriptor), before);
}

StopSignals::~StopSignals() {
  if (signals_.IsOpen()) sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int StopSignals::Wait(Seconds longest) {
  pollfd waiting{.fd = signals_.Get(), .events = POLLIN, .revents = 0};
  poll(&waiting, 1, static_cast<int>(std::ceil(std::clamp(longest.count(), 0.0, 3600.0) * 1000)));
  int stops = 0;
  signalfd_siginfo info;
  while (read(signals_.Get(), &info, sizeof(info)) == sizeof(info)) {
    if (info.ssi_signo != SIGCHLD) ++stops;
  }
  return stops;
}

}  // namespace espalier
