// A gRPC service whose door is guarded: who calls is found out before anything of the request's body is read, whatever
// the kind of connection; then the body is taken as bytes, measured, and only then parsed. gRPC's own handlers of
// unary calls parse first and ask afterwards, so a call without a token costs the master a hundred times its bytes.
// On the wire its calls are what the protocol files say. An RPC that is not served here is UNIMPLEMENTED.
// Thread-safe: each unary call has a thread of its own, and all streams have one together.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/method_handler.h>

#include <forward_list>
#include <memory>
#include <string>

#include "master/rpc/callers.h"
#include "master/rpc/grpc_status.h"
#include "master/rpc/guarded_stream.h"
#include "master/rpc/parse_request.h"

namespace espalier::master {

class GuardedService : public grpc::Service {
 protected:
  // Who may call a method: one of Callers' questions.
  using Admission = Result<Caller> (Callers::*)(const grpc::ServerContext&) const;

  // `name`: of the service, as generated code has it. `callers` outlives the service.
  GuardedService(const char* name, const Callers& callers) : name_(name), callers_(callers) {}

  // Calls of `method` are answered by `answer`: one request, one response.
  template <class Self, class Request, class Response>
  void Serve(const char* method, Admission admission,
             Result<void> (Self::*answer)(const Caller&, const Request&, Response&)) {
    Add(method,
        new grpc::internal::StreamedUnaryHandler<grpc::ByteBuffer, Response>([=, this](auto* context, auto* stream) {
          Response response;
          const auto answered =
              Guard<Request>(admission, *context, *stream, [&](const Caller& caller, const Request& asked) {
                return (static_cast<Self*>(this)->*answer)(caller, asked, response);
              });
          if (!answered.has_value()) return ToStatus(answered.error());
          stream->WriteLast(response, grpc::WriteOptions());  // who calls may be gone, and learns nothing then
          return grpc::Status::OK;
        }));
  }

  // Calls of `method` are streams of responses that hold no thread: whoever `open` gives serves the call, on the thread
  // of the pump that Start is given.
  template <class Self>
  void ServeStreams(const char* method, Admission admission,
                    Result<std::unique_ptr<StreamServer>> (Self::*open)(StreamCall&, const Caller&)) {
    const int index = Add(method, nullptr);
    streams_.push_front(
        {.request =
             [=, this](grpc::ServerContext& context, StreamMethod::Stream& stream, void* tag) {
               grpc::ServerCompletionQueue& queue = pump_->queue();
               RequestAsyncBidiStreaming(index, &context, &stream, &queue, &queue, tag);
             },
         .admit = [=, this](const grpc::ServerContext& context) { return (callers_.*admission)(context); },
         .open = [=, this](StreamCall& call,
                           const Caller& caller) { return (static_cast<Self*>(this)->*open)(call, caller); }});
  }

 public:
  // Streams are served from now on. REQUIRES: the server has started, with the pump's queue; both outlive this.
  void StartStreams(StreamPump& pump);

 private:
  // What `answer` gives back, if the caller is let in and sends a request that can be read.
  template <class Request, class Stream, class Answer>
  Result<void> Guard(Admission admission, const grpc::ServerContext& context, Stream& stream, Answer answer) const {
    ESPALIER_ASSIGN(const Caller caller, (callers_.*admission)(context));
    grpc::ByteBuffer body;
    const bool came = stream.Read(&body);
    if (!came) return tl::unexpected<Error>(NoRequest());
    Request request;
    ESPALIER_RETURN_IF_ERROR(ParseRequest(context, body, request));
    return answer(caller, request);
  }

  // Takes the handler; null: the method's calls are asked for. The method's number.
  int Add(const char* method, grpc::internal::MethodHandler* handler);

  const std::string name_;
  std::forward_list<std::string> paths_;  // of the methods: gRPC keeps pointers to them
  std::forward_list<StreamMethod> streams_;
  int method_count_ = 0;
  StreamPump* pump_ = nullptr;
  const Callers& callers_;
};

}  // namespace espalier::master
