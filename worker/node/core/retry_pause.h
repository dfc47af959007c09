// How long to wait before what failed is tried again: 1 s, doubling to 60.
#pragma once

#include <algorithm>

#include "base/units.h"

namespace espalier::node {

class RetryPause {
 public:
  // The next pause.
  Seconds Next() {
    const Seconds pause = next_;
    next_ = std::min(2 * next_, Seconds(60));
    return pause;
  }

 private:
  Seconds next_{1};
};

}  // namespace espalier::node
