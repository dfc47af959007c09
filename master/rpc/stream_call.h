// A call that is a stream of responses and holds no thread, as who serves it sees it, and who serves it as the call
// does. On the pump's thread.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>

#include "base/result.h"
#include "master/core/state/visibility.h"

namespace espalier::master {

class StreamCall {
 public:
  virtual ~StreamCall() = default;

  // As whom the caller calls; asked again and again, for his token may be revoked meanwhile.
  virtual Result<Caller> Admit() const = 0;

  // What a request says, which is emptied. Errors: of ParseRequest.
  virtual Result<void> Parse(grpc::ByteBuffer& body, google::protobuf::Message& request) const = 0;

  // One response; Written follows, unless nobody listens any more. REQUIRES: none is being written.
  virtual void Write(const grpc::ByteBuffer& response) = 0;
  virtual bool is_writing() const = 0;

  // Ends the call once what is being written has left. The first of these counts, and nothing is written any more.
  virtual void End(const Result<void>& outcome) = 0;

  // Ends the call now, after End too; what the caller has not taken yet is lost.
  virtual void Break(const Error& error) = 0;
};

// Serves one call; goes with it.
class StreamServer {
 public:
  virtual ~StreamServer() = default;

  // The caller's next request. Error: how the call ends.
  virtual Result<void> Take(grpc::ByteBuffer& body) = 0;
  // No more requests come.
  virtual void TakeNoMore() = 0;
  // What was being written has left.
  virtual void Written() = 0;
};

}  // namespace espalier::master
