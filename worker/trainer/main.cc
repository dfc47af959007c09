// espalier-worker: the process that trains on a slot, for the node manager at the other end of its socket.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "base/failpoint.h"
#include "base/log.h"
#include "worker/trainer/command_line.h"
#include "worker/trainer/data/prefetch.h"
#include "worker/trainer/session.h"
#include "worker/trainer/torch_device.h"

namespace {

// Dies with its parent. A parent that is gone before this line closed the socket, which the session notices.
bool FollowParent() {
  const pid_t parent = getppid();
  return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// As the node manager says; alone in the world, one.
int ThreadCount() {
  const int count = std::atoi(Environment("ESPALIER_THREADS").c_str());
  return count > 0 ? count : 1;
}

// Where all cores compute, a thread that fetches would only take from them.
std::size_t UsualPrefetch(int thread_count) {
  return espalier::trainer::HasCoreToSpare(thread_count) ? espalier::trainer::kUsualPrefetch : 0;
}

// In the user's folder for what can be made again. Empty if he has none.
std::string DigestMemory() {
  const std::string cache = Environment("XDG_CACHE_HOME");
  const std::string home = Environment("HOME");
  if (cache.empty() && home.empty()) return "";
  return (cache.empty() ? home + "/.cache" : cache) + "/espalier/worker_file_digests";
}

int Refuse(const espalier::Error& error) {
  std::cerr << error.field << (error.field.empty() ? "" : ": ") << error.message << "\n"
            << "usage: espalier-worker [--trainer NAME|FILE.pt|FILE.so] ... [--data DATA] ... --fd N\n"
            << "N is a connected socket that speaks the trainer protocol.\n";
  return 2;
}

}  // namespace

int main(int argument_count, char** arguments) {
  auto line = espalier::trainer::ParseCommandLine({arguments + 1, arguments + argument_count});
  if (!line.has_value()) return Refuse(line.error());
  if (!FollowParent()) return 1;
  espalier::SetUpLog("worker");
  const auto armed =
      espalier::ArmFailpoints(Environment("ESPALIER_FAILPOINTS"), Environment("ESPALIER_FAILPOINT_MARKER"));
  if (!armed.has_value()) return Refuse(armed.error());
  line->choice.digest_memory = DigestMemory();
  const int thread_count = ThreadCount();
  espalier::trainer::SetUpDevice(thread_count);
  const auto prefetch = espalier::trainer::ParsePrefetch(Environment("ESPALIER_PREFETCH"), UsualPrefetch(thread_count));
  if (!prefetch.has_value()) return Refuse(prefetch.error());
  line->choice.prefetch = *prefetch;
  const auto trainers = espalier::trainer::ChooseTrainers(line->choice);
  if (!trainers.has_value()) return Refuse(trainers.error());
  const auto served = espalier::trainer::ServeSession(line->fd, *trainers, espalier::trainer::DeviceKind());
  if (!served.has_value()) espalier::Log(espalier::LogLevel::kError, served.error().message);
  // Without the libraries' own clean-up, which takes a tenth of a second and frees only what the system frees anyway.
  std::_Exit(served.has_value() ? 0 : 1);
}
