// Gets users' code from the master, as far as this server may run it: what has to be waited for is done by another
// thread, and its outcome posted to the loop's queue. Owned by the event loop; every function is called on its thread,
// and returns at once.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "proto/channel.h"
#include "worker/node/loop_queue.h"
#include "worker/node/user_code.h"

namespace espalier::node {

class ReferenceAccess {
 public:
  // Keeps archives in `folder`, of which what lies there is deleted. `token` is shown to the master, unless it is
  // empty. REQUIRES: the queue lives longer.
  ReferenceAccess(const std::shared_ptr<grpc::Channel>& master, std::string token, std::filesystem::path folder,
                  Host host, LoopQueue& queue);
  // Gives up what is being fetched.
  ~ReferenceAccess();

  // `done` is called on the event loop with the command of the reference's workers; its archive lies in the folder
  // then. Error: kUnavailable when the master is away; any other says why this server does not run it.
  void Fetch(Digest128 reference, std::function<void(Result<std::vector<std::string>>)> done);

  // Deletes the archive, and what was unpacked from it. REQUIRES: no worker of it lives.
  void Forget(Digest128 reference);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace espalier::node
