// What a node manager, or whoever has its token, sends to a master, and the other way round.
#include "espalier/v1/node_manager.pb.h"
#include "proto/convert_node_protocol.h"
#include "proto/unknown_parts.h"
#include "tests/fuzz/fuzz.h"

namespace espalier {
namespace {

template <class Message, class Take>
void Try(std::string_view bytes, const Take& take) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  static_cast<void>(FindUnknown(message));
  take(message);
}

// What is taken is written so that it is taken again.
template <class Message>
void TryBackAndForth(const Message& message) {
  const auto value = FromProto(message);
  if (!value.has_value()) return;
  const auto written = ToProto(*value);
  const auto again = FromProto(written);
  ESPALIER_CHECK(again.has_value()) << again.error().field << ": " << again.error().message << written.DebugString();
}

}  // namespace
}  // namespace espalier

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  const std::string_view bytes = fuzz::TextOf(data, size);
  Try<v1::SynchronizeRequest>(bytes, [](const v1::SynchronizeRequest& request) {
    TryBackAndForth(request.registration());
    for (const v1::RunStatus& status : request.runs()) TryBackAndForth(status);
    for (const v1::Report& report : request.reports()) TryBackAndForth(report);
  });
  Try<v1::SynchronizeResponse>(bytes, [](const auto& message) { TryBackAndForth(message); });
  Try<v1::PutOutputRequest>(bytes, [](const auto& message) { TryBackAndForth(message); });
  Try<v1::PutServerLogRequest>(bytes, [](const auto& message) { TryBackAndForth(message); });
  return 0;
}
