// One call of a guarded service that holds no thread (stream_call.h): who calls is found out before anything of a
// request's body is read. On the pump's thread, from the moment it is accepted until gRPC has completed all of it.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_stream.h>

#include <functional>
#include <memory>
#include <optional>

#include "master/rpc/stream_call.h"
#include "master/rpc/stream_pump.h"

namespace espalier::master {

// A method whose calls are such streams.
struct StreamMethod {
  using Stream = grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

  // Asks gRPC for the next call; `tag` comes once there is one.
  std::function<void(grpc::ServerContext& context, Stream& stream, void* tag)> request;
  // Who may call.
  std::function<Result<Caller>(const grpc::ServerContext& context)> admit;
  // Who serves a call, which outlives him. Error: why nobody does.
  std::function<Result<std::unique_ptr<StreamServer>>(StreamCall& call, const Caller& caller)> open;
  StreamPump* pump = nullptr;  // once it is started
};

class GuardedStream final : public StreamCall {
 public:
  // Serves the next call, and all later ones, until the server is shut down. REQUIRES: the method outlives them.
  static void Accept(const StreamMethod& method);

  Result<Caller> Admit() const override;
  Result<void> Parse(grpc::ByteBuffer& body, google::protobuf::Message& request) const override;
  void Write(const grpc::ByteBuffer& response) override;
  bool is_writing() const override { return is_writing_; }
  void End(const Result<void>& outcome) override;
  void Break(const Error& error) override;

 private:
  // What is asked of gRPC, and what follows once it is done.
  class Operation final : public StreamPump::Operation {
   public:
    Operation(GuardedStream& of, void (GuardedStream::*then)(bool)) : stream_(of), then_(then) {}
    void* Begin();
    void Done(bool ok) override;

   private:
    GuardedStream& stream_;
    void (GuardedStream::*const then_)(bool);
  };

  explicit GuardedStream(const StreamMethod& method) : method_(method) {}

  void Accepted(bool ok);
  void Read(bool ok);
  void Written(bool ok);
  void Finished(bool) {}
  void Over(bool ok);

  const StreamMethod& method_;
  grpc::ServerContext context_;
  StreamMethod::Stream stream_{&context_};
  grpc::ByteBuffer body_;
  Operation accept_{*this, &GuardedStream::Accepted};
  Operation read_{*this, &GuardedStream::Read};
  Operation write_{*this, &GuardedStream::Written};
  Operation finish_{*this, &GuardedStream::Finished};
  Operation over_{*this, &GuardedStream::Over};
  int open_ = 0;  // operations that gRPC has not completed
  bool is_writing_ = false;
  bool is_ended_ = false;               // End was called, or nobody listens any more
  std::optional<grpc::Status> status_;  // to be told once what is being written has left
  std::unique_ptr<StreamServer> server_;
  std::unique_ptr<GuardedStream> self_;  // until it is over
};

}  // namespace espalier::master
