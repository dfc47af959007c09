// What both halves of the node protocol's conversion need: orders and registrations (convert_node_protocol.cc),
// statuses and reports (convert_report.cc).
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "base/digest.h"
#include "base/point.h"
#include "base/result.h"
#include "base/text.h"
#include "espalier/v1/node_manager.pb.h"

namespace espalier {

// Of what a report says for people. As much as the master keeps.
inline constexpr std::size_t kMessageBytesMax = std::size_t{16} << 10;

inline std::string ForPeople(const std::string& text) { return CleanText(text, kMessageBytesMax); }

inline tl::unexpected<Error> Missing(std::string field) {
  return MakeError(ErrorCode::kInvalidArgument, "is missing", std::move(field));
}

inline tl::unexpected<Error> Unknown(std::string field) {
  return MakeError(ErrorCode::kInvalidArgument, "is of a kind that this program does not know", std::move(field));
}

// What is no time comes in as 0.
inline Seconds ToSeconds(double seconds) { return Seconds(std::isfinite(seconds) && seconds > 0 ? seconds : 0); }

inline Result<Digest128> ToDigest(const std::string& hex) {
  Result<Digest128> digest = ParseDigest128(hex);
  if (!digest.has_value()) return InField("lineage_digest", digest.error());
  return digest;
}

inline void Set(RunKey run, v1::RunKey& message) {
  message.set_leadership_id(run.leadership.value);
  message.set_run_id(run.run.value);
}

inline Result<RunKey> FromProto(const v1::RunKey& message) {
  if (message.leadership_id() <= 0 || message.run_id() <= 0) return Missing("run");
  return RunKey{LeadershipId{message.leadership_id()}, RunId{message.run_id()}};
}

inline void Set(Point point, v1::Point& message) {
  message.set_plan_node_id(point.node.value);
  message.set_step(point.step.value);
}

inline Result<Point> ToPoint(const v1::Point& message) {
  if (message.plan_node_id() <= 0) return Missing("point");
  return Point{PlanNodeId{message.plan_node_id()}, Step{message.step()}};
}

}  // namespace espalier
