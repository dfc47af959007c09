// The stream to the master: sends what is, receives what should be. Connects again, with growing pauses, whenever the
// stream ends; on each new one it says again who it is, where the runs stand, and all that is not acknowledged.
// Used by the event loop alone; gRPC's threads reach it through the loop's queue.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proto/channel.h"
#include "worker/node/core/core.h"
#include "worker/node/loop_queue.h"

namespace espalier::node {

class Uplink {
 public:
  // `token` is shown to the master, unless it is empty. `on_orders` is called on the event loop, for each answer that
  // makes sense; what does not is logged (trouble), and what was ordered before stays in force.
  Uplink(const std::shared_ptr<grpc::Channel>& master, std::string token, LoopQueue& queue,
         std::function<void(const ServerOrders&)> on_orders);
  // Ends the stream, waiting until gRPC has let go of it.
  ~Uplink();
  Uplink(const Uplink&) = delete;
  Uplink& operator=(const Uplink&) = delete;

  // Connects if it is time to; sends if there is something new, or if nothing was sent for a second. That runs stand
  // elsewhere than was said, and nothing else, waits a moment for reports to go along with.
  void Exchange(const Registration& registration, const Core& core, Seconds now);

  // The master has answered on this stream.
  bool is_connected() const;

  // Why the last orders are not carried out, for people; empty: they are.
  const std::string& trouble() const;

 private:
  class Stream;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier::node
