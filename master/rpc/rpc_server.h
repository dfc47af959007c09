// The master's gRPC server with all its services, and the carrier of the effects that concern them. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "master/core/effect.h"
#include "master/core/master_facts.h"
#include "master/core/side_stores.h"
#include "master/rpc/master_port.h"
#include "proto/encryption.h"

namespace espalier::master {

class RpcServer {
 public:
  // Listens once Start is called. Master and stores outlive the server. `facts`: what people are told of this process.
  RpcServer(MasterPort& master, const SideStores& stores, MasterFacts facts = {});
  ~RpcServer();

  // `address`: "unix:PATH" or "HOST:PORT". Errors: kUnavailable when it cannot be listened on; of ListenerCredentials.
  // `reflects`: whoever reaches it may ask, without a token, what calls there are (gRPC's server reflection). gRPC's
  // health service answers whoever reaches it.
  Result<void> Start(const std::string& address, const ListenerEncryption& encryption = {}, bool reflects = false);

  // Replies, messages to node managers, notifications of watchers. A LogLine is logged.
  void Carry(Effect effect);

  // Every waiting call gets kUnavailable, every stream ends; returns when no call is left.
  void Stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace espalier::master
