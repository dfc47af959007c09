#include "proto/convert_time.h"

#include <algorithm>

namespace espalier {

google::protobuf::Timestamp ToProto(Time time) {
  constexpr std::int64_t kMicroseconds = 1'000'000;
  const std::int64_t count = time.time_since_epoch().count();
  google::protobuf::Timestamp message;
  message.set_seconds(count / kMicroseconds);
  message.set_nanos(static_cast<std::int32_t>(count % kMicroseconds * 1000));
  return message;
}

Time FromProto(const google::protobuf::Timestamp& timestamp) {
  constexpr std::int64_t kSecondsMax = std::int64_t{1} << 40;
  const std::chrono::seconds whole(std::clamp(timestamp.seconds(), -kSecondsMax, kSecondsMax));
  return Time(whole + std::chrono::microseconds(timestamp.nanos() / 1000));
}

}  // namespace espalier
