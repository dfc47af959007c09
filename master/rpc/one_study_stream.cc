#include "master/rpc/one_study_stream.h"

#include "espalier/v1/study.pb.h"
#include "master/rpc/parse_request.h"

namespace espalier::master {

Result<void> OneStudyStream::Take(grpc::ByteBuffer& body) {
  v1::WatchRequest request;
  ESPALIER_RETURN_IF_ERROR(call_.Parse(body, request));
  is_begun_ = true;
  tunes_ = request.tunes();
  Begin(0, StudyId{request.study_id()}, PositionOf(request));
  return {};
}

void OneStudyStream::TakeNoMore() {
  if (!is_begun_) End(tl::unexpected<Error>(NoRequest()));
}

std::optional<grpc::ByteBuffer> OneStudyStream::ResponseOf(Watched& watched, Next next) {
  if (tunes_ && !mark_) mark_.emplace(tuned_, watched.study);  // who may not see it does not tune it
  std::vector<grpc::Slice> parts = std::move(next.events);
  if (next.is_all && !next.is_finished && watched.progress) {
    parts.push_back(*std::exchange(watched.progress, std::nullopt));
  }
  if (parts.empty()) return std::nullopt;
  return grpc::ByteBuffer(parts.data(), parts.size());
}

}  // namespace espalier::master
