#include "master/rpc/encoded_events.h"

#include <algorithm>
#include <string>

#include "espalier/v1/study.pb.h"
#include "master/rpc/convert.h"

namespace espalier::master {

EncodedEvents::Part EncodedEvents::From(std::int64_t next, std::size_t bytes, Message message) const {
  const Encoded& encoded = As(message);
  const auto first = encoded.ends.begin() + (next - first_);
  const std::size_t begin = first == encoded.ends.begin() ? 0 : *(first - 1);
  const auto last = std::lower_bound(first, encoded.ends.end() - 1, begin + bytes);
  return {.bytes = encoded.bytes.sub(begin, *last), .end = first_ + (last - encoded.ends.begin()) + 1};
}

const EncodedEvents::Encoded& EncodedEvents::As(Message message) const {
  Encoded& encoded = encoded_.at(static_cast<std::size_t>(message));
  if (!encoded.ends.empty()) return encoded;
  std::string bytes;
  std::int64_t number = first_;
  const auto append = [&](auto response) {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      response.clear_events();
      *response.add_events() = master::ToProto(events_[i], number++, times_[i]);
      response.AppendToString(&bytes);
      encoded.ends.push_back(bytes.size());
    }
  };
  switch (message) {
    case Message::kWatchResponse:
      append(v1::WatchResponse());
      break;
    case Message::kWatchStudiesResponse:
      append(v1::WatchStudiesResponse());
      break;
  }
  encoded.bytes = grpc::Slice(bytes);
  return encoded;
}

}  // namespace espalier::master
