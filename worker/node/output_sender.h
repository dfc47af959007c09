// Sends what runs have printed, and what the node manager logs, to the master, one after another, beside the reports
// and never before them: by a call and a thread of its own. Owned by the event loop; every function is called on its
// thread, and returns at once.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "proto/channel.h"
#include "protocol/run_output.h"
#include "protocol/server_log.h"
#include "worker/node/loop_queue.h"

namespace espalier::node {

class OutputSender {
 public:
  // `token` is shown to the master, unless it is empty. REQUIRES: the queue lives longer.
  OutputSender(const std::shared_ptr<grpc::Channel>& master, std::string token, LoopQueue& queue);
  // Gives up what is being sent.
  ~OutputSender();

  bool is_sending() const;

  // Sends it, again and again while the master is away, with pauses; one that the master refuses is dropped.
  // REQUIRES: nothing is being sent.
  void Send(const RunOutput& output);
  void Send(const ServerLogPart& part);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace espalier::node
