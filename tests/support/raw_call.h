// Calls of any method by its name, as any program could make them: bytes out, bytes in.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace espalier::master::testing {

// What a caller learns.
struct Outcome {
  grpc::StatusCode code = grpc::StatusCode::OK;
  std::string message;
  std::string details;
  std::vector<std::string> responses;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// A call that goes on until the server ends it. `method`: "/espalier.v1.StudyService/Watch"; `authorization`: the value
// of that metadata, if there is to be one.
class RawCall {
 public:
  RawCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
          const google::protobuf::Message& request, const std::optional<std::string>& authorization)
      : RawCall(channel, method, authorization, std::chrono::minutes(2)) {
    WriteBytes(request.SerializeAsString());
  }
  // A call whose body has not come yet; it ends after `patience` also if the server waits for its body.
  RawCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
          const std::optional<std::string>& authorization, std::chrono::seconds patience = std::chrono::seconds(30))
      : stub_(channel) {
    context_.set_deadline(std::chrono::system_clock::now() + patience);
    if (authorization) context_.AddMetadata("authorization", *authorization);
    stream_ = stub_.PrepareCall(&context_, method, &queue_);
    stream_->StartCall(this);
    Succeeds();
  }
  ~RawCall() {
    if (!finished_) {
      Cancel();
      Finish();
    }
    queue_.Shutdown();
  }

  // The next response; nothing when the stream has ended.
  std::optional<std::string> Read() {
    grpc::ByteBuffer buffer;
    stream_->Read(&buffer, this);
    if (!Succeeds()) return std::nullopt;
    std::vector<grpc::Slice> slices;
    std::string bytes;
    if (!buffer.Dump(&slices).ok()) return std::nullopt;
    for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    return bytes;
  }

  // Sends one more message.
  void Write(const google::protobuf::Message& message) { WriteBytes(message.SerializeAsString()); }
  void WriteBytes(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    stream_->Write(grpc::ByteBuffer(&slice, 1), this);
    Succeeds();
  }
  // From any thread.
  void Cancel() { context_.TryCancel(); }
  void WritesDone() {
    stream_->WritesDone(this);
    Succeeds();
  }

  // All that is still to come, to the end.
  Outcome Finish() {
    Outcome outcome;
    while (auto response = Read()) outcome.responses.push_back(std::move(*response));
    grpc::Status status;
    stream_->Finish(&status, this);
    Succeeds();
    finished_ = true;
    outcome.code = status.error_code();
    outcome.message = status.error_message();
    outcome.details = status.error_details();
    return outcome;
  }

 private:
  bool Succeeds() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  bool finished_ = false;
};

inline Outcome CallOnce(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                        const google::protobuf::Message& request, const std::optional<std::string>& authorization) {
  RawCall call(channel, method, request, authorization);
  call.WritesDone();
  return call.Finish();
}

}  // namespace espalier::master::testing
