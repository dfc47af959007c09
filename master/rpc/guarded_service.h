// A gRPC service whose door is guarded: who calls is found out before anything of the request's body is read, whatever
// the kind of connection; then the body is taken as bytes, measured, and only then parsed. gRPC's own handlers of
// unary calls parse first and ask afterwards, so a call without a token costs the master a hundred times its bytes.
// On the wire its calls are what the protocol files say. An RPC that is not served here is UNIMPLEMENTED.
// Thread-safe: each call has a thread of its own.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/method_handler.h>
#include <grpcpp/support/sync_stream.h>

#include <forward_list>
#include <functional>
#include <string>

#include "master/rpc/callers.h"
#include "master/rpc/grpc_status.h"

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

  // The same for a stream of responses: `answer` gets the call's context, too, and writes until it is done.
  template <class Self, class Request, class Response>
  void ServeStream(const char* method, Admission admission,
                   Result<void> (Self::*answer)(const grpc::ServerContext&, const Caller&, const Request&,
                                                grpc::internal::WriterInterface<Response>&)) {
    Add(method, new grpc::internal::SplitServerStreamingHandler<grpc::ByteBuffer, Response>(
                    [=, this](auto* context, auto* stream) {
                      const auto answered =
                          Guard<Request>(admission, *context, *stream, [&](const Caller& caller, const Request& asked) {
                            return (static_cast<Self*>(this)->*answer)(*context, caller, asked, *stream);
                          });
                      return answered.has_value() ? grpc::Status::OK : ToStatus(answered.error());
                    }));
  }

  // The same for a stream each way: `next` reads the next request, and is false when there are no more. It is called by
  // the thread that answers; another may write meanwhile.
  template <class Request>
  using NextRequest = std::function<Result<bool>(Request&)>;
  template <class Self, class Request, class Response>
  void ServeStreams(const char* method, Admission admission,
                    Result<void> (Self::*answer)(const grpc::ServerContext&, const Caller&, const NextRequest<Request>&,
                                                 grpc::internal::WriterInterface<Response>&)) {
    using Stream = grpc::ServerReaderWriter<Response, grpc::ByteBuffer>;
    const auto serve = [=, this](GuardedService*, grpc::ServerContext* context, Stream* stream) {
      const auto caller = (callers_.*admission)(*context);
      if (!caller.has_value()) return ToStatus(caller.error());
      const NextRequest<Request> next = [&](Request& request) -> Result<bool> {
        grpc::ByteBuffer body;
        if (!stream->Read(&body)) return false;
        ESPALIER_RETURN_IF_ERROR(Parse(*context, true, body, request));
        return true;
      };
      const Result<void> answered = (static_cast<Self*>(this)->*answer)(*context, *caller, next, *stream);
      return answered.has_value() ? grpc::Status::OK : ToStatus(answered.error());
    };
    Add(method, new grpc::internal::BidiStreamingHandler<GuardedService, grpc::ByteBuffer, Response>(serve, this));
  }

 private:
  // What `answer` gives back, if the caller is let in and sends a request that can be read.
  template <class Request, class Stream, class Answer>
  Result<void> Guard(Admission admission, const grpc::ServerContext& context, Stream& stream, Answer answer) const {
    ESPALIER_ASSIGN(const Caller caller, (callers_.*admission)(context));
    grpc::ByteBuffer body;
    const bool came = stream.Read(&body);
    Request request;
    ESPALIER_RETURN_IF_ERROR(Parse(context, came, body, request));
    body.Clear();  // the answer may take its time
    return answer(caller, request);
  }

  // Empties `body`. Errors: kInvalidArgument when no request came or it is none of this kind; kResourceExhausted when
  // it has more than kRequestBytesMax; kWrongVersion as CheckKnown.
  static Result<void> Parse(const grpc::ServerContext& context, bool came, grpc::ByteBuffer& body,
                            google::protobuf::Message& request);

  // Takes the handler.
  void Add(const char* method, grpc::internal::MethodHandler* handler);

  const std::string name_;
  std::forward_list<std::string> paths_;  // of the methods: gRPC keeps pointers to them
  const Callers& callers_;
};

}  // namespace espalier::master
