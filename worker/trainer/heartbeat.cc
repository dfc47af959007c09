#include "worker/trainer/heartbeat.h"

#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace espalier::trainer {
namespace {

thread_local std::function<void()> to_send;
thread_local Seconds pause{0};
thread_local Seconds sent_at{0};

}  // namespace

void Heartbeat() {
  if (!to_send) return;
  const Seconds now = MonotonicNow();
  if (now - sent_at < pause) return;
  sent_at = now;
  to_send();
}

HeartbeatListener::HeartbeatListener(std::function<void()> send, Seconds period) {
  ESPALIER_CHECK(!to_send) << "somebody listens already";
  to_send = std::move(send);
  pause = period;
  sent_at = MonotonicNow();
}

HeartbeatListener::~HeartbeatListener() { to_send = nullptr; }

}  // namespace espalier::trainer
