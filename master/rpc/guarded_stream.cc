#include "master/rpc/guarded_stream.h"

#include <grpc/grpc.h>

#include <utility>

#include "master/rpc/grpc_status.h"
#include "master/rpc/parse_request.h"

namespace espalier::master {

void* GuardedStream::Operation::Begin() {
  ++stream_.open_;
  return stream_.method_.pump->Begin(*this);
}

void GuardedStream::Operation::Done(bool ok) {
  (stream_.*then_)(ok);
  if (--stream_.open_ == 0) stream_.self_.reset();
}

void GuardedStream::Accept(const StreamMethod& method) {
  auto next = std::unique_ptr<GuardedStream>(new GuardedStream(method));
  GuardedStream& stream = *next;
  stream.self_ = std::move(next);
  stream.context_.AsyncNotifyWhenDone(static_cast<StreamPump::Operation*>(&stream.over_));
  method.request(stream.context_, stream.stream_, stream.accept_.Begin());
}

void GuardedStream::Accepted(bool ok) {
  if (!ok) return;  // the server was shut down; nothing else comes
  over_.Begin();
  Accept(method_);
  const Result<Caller> caller = Admit();
  if (!caller.has_value()) return End(tl::unexpected<Error>(caller.error()));
  Result<std::unique_ptr<StreamServer>> server = method_.open(*this, *caller);
  if (!server.has_value()) return End(tl::unexpected<Error>(server.error()));
  server_ = *std::move(server);
  stream_.Read(&body_, read_.Begin());
}

Result<Caller> GuardedStream::Admit() const { return method_.admit(context_); }

Result<void> GuardedStream::Parse(grpc::ByteBuffer& body, google::protobuf::Message& request) const {
  return ParseRequest(context_, body, request);
}

void GuardedStream::Read(bool ok) {
  if (is_ended_) return;
  if (!ok) return server_->TakeNoMore();
  if (const Result<void> taken = server_->Take(body_); !taken.has_value()) return End(taken);
  if (!is_ended_) stream_.Read(&body_, read_.Begin());
}

void GuardedStream::Write(const grpc::ByteBuffer& response) {
  if (is_ended_) return;
  is_writing_ = true;
  stream_.Write(response, write_.Begin());
}

void GuardedStream::Written(bool ok) {
  is_writing_ = false;
  if (status_) return stream_.Finish(*std::exchange(status_, std::nullopt), finish_.Begin());
  if (ok && !is_ended_) server_->Written();
}

void GuardedStream::End(const Result<void>& outcome) {
  if (std::exchange(is_ended_, true)) return;
  const grpc::Status status = outcome.has_value() ? grpc::Status::OK : ToStatus(outcome.error());
  if (is_writing_) {
    status_ = status;
  } else {
    stream_.Finish(status, finish_.Begin());
  }
}

void GuardedStream::Break(const Error& error) {
  is_ended_ = true;
  status_.reset();
  const grpc::Status status = ToStatus(error);
  grpc_call_cancel_with_status(context_.c_call(), static_cast<grpc_status_code>(status.error_code()),
                               status.error_message().c_str(), nullptr);
}

// Told, or nobody listens any more.
void GuardedStream::Over(bool) {
  is_ended_ = true;
  status_.reset();
  server_.reset();
}

}  // namespace espalier::master
