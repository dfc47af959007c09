#include "master/rpc/studies_stream.h"

#include "espalier/v1/study.pb.h"
#include "master/rpc/grpc_status.h"
#include "master/rpc/limits.h"

namespace espalier::master {

Result<void> StudiesStream::Take(grpc::ByteBuffer& body) {
  v1::WatchStudiesRequest request;
  ESPALIER_RETURN_IF_ERROR(call_.Parse(body, request));
  if (request.has_begin()) {
    Begin(request.watch_id(), StudyId{request.begin().study_id()}, PositionOf(request.begin()));
  } else {
    EndWatch(request.watch_id());
  }
  return {};
}

void StudiesStream::TakeNoMore() {
  no_more_ = true;
  EndIfIdle();
}

void StudiesStream::EndIfIdle() {
  if (no_more_ && watch_count() == 0) End({});
}

Result<void> StudiesStream::MayWatch(const Watched& watched) const {
  if (watched.is_answered || watch_count() <= kStudiesPerStreamMax) return {};
  return MakeError(ErrorCode::kResourceExhausted, "a stream watches at most " + std::to_string(kStudiesPerStreamMax) +
                                                      " studies at once; end some of them first");
}

std::optional<grpc::ByteBuffer> StudiesStream::ResponseOf(Watched& watched, Next next) {
  if (next.events.empty() && !next.is_finished && (watched.is_answered || !next.is_all)) return std::nullopt;
  watched.is_answered = true;
  v1::WatchStudiesResponse rest;
  rest.set_watch_id(watched.id);
  if (next.is_finished) rest.mutable_ended();
  std::vector<grpc::Slice> parts = std::move(next.events);
  parts.emplace_back(rest.SerializeAsString());
  return grpc::ByteBuffer(parts.data(), parts.size());
}

std::optional<grpc::ByteBuffer> StudiesStream::ResponseTo(Watched& watched, const Error& error) {
  v1::WatchStudiesResponse response;
  response.set_watch_id(watched.id);
  response.mutable_ended()->set_status(ToStatus(error).error_code());
  response.mutable_ended()->set_message(error.message);
  response.mutable_ended()->set_field(error.field);
  const grpc::Slice bytes(response.SerializeAsString());
  return grpc::ByteBuffer(&bytes, 1);
}

}  // namespace espalier::master
