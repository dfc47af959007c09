// Says that a worker gets on with what it was asked: a request is a hang when its kind takes that much longer than it
// was measured to take, counted from the last word. So a step of hours has to say something now and then.
#pragma once

#include <functional>

#include "base/units.h"

namespace espalier::trainer {

// To be called between updates, batches and the like, as often as one likes: a word goes out once a second at most. Of
// no effect where nobody listens. Any thread; what another thread than the session's says counts for nothing.
void Heartbeat();

// While it lives, `send` is called by Heartbeat() of this thread, once in `period` at most, and not before the first is
// over. One at a time.
class HeartbeatListener {
 public:
  explicit HeartbeatListener(std::function<void()> send, Seconds period = Seconds(1));
  ~HeartbeatListener();
  HeartbeatListener(const HeartbeatListener&) = delete;
  HeartbeatListener& operator=(const HeartbeatListener&) = delete;
};

}  // namespace espalier::trainer
