// Moments between C++ and protobuf.
#pragma once

#include <google/protobuf/timestamp.pb.h>

#include "base/units.h"

namespace espalier {

google::protobuf::Timestamp ToProto(Time time);
// What lies too far away is cut to what a Time can be.
Time FromProto(const google::protobuf::Timestamp& timestamp);

}  // namespace espalier
