#include "base/failpoint.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <map>
#include <mutex>

namespace espalier {
namespace {

struct Armed {
  std::mutex mutex;
  std::map<std::string, int, std::less<>> passes_left;
  std::string marker;
};

Armed& TheArmed() {
  static Armed armed;
  return armed;
}

}  // namespace

Result<void> ArmFailpoints(std::string_view text, std::string marker) {
#ifndef ESPALIER_FAILPOINTS
  if (!text.empty()) return MakeError(ErrorCode::kInvalidArgument, "this build has no fail-points");
#endif
  Armed& armed = TheArmed();
  const std::lock_guard lock(armed.mutex);
  armed.marker = std::move(marker);
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    int count = 0;
    if (equals == std::string_view::npos ||
        std::from_chars(item.data() + equals + 1, item.data() + item.size(), count).ptr != item.data() + item.size() ||
        count < 1) {
      return MakeError(ErrorCode::kInvalidArgument, "a fail-point is NAME=COUNT, got '" + std::string(item) + "'");
    }
    armed.passes_left[std::string(item.substr(0, equals))] = count;
  }
  return {};
}

void PassFailpoint(std::string_view name) {
  Armed& armed = TheArmed();
  const std::lock_guard lock(armed.mutex);
  const auto it = armed.passes_left.find(name);
  if (it == armed.passes_left.end() || --it->second > 0) return;
  armed.passes_left.erase(it);
  if (!armed.marker.empty()) {
    const int fd = open(armed.marker.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0) return;
    close(fd);
  }
  kill(getpid(), SIGKILL);
}

}  // namespace espalier
