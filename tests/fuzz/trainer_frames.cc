// The trainer protocol, of a worker in any language: frames, and what they hold; what is understood is written so that
// it is understood alike.
#include "tests/fuzz/fuzz.h"
#include "worker/protocol/encoding.h"
#include "worker/protocol/frame.h"

namespace espalier::worker {
namespace {

void Try(std::string_view message) {
  static_cast<void>(RequestId(message));
  static_cast<void>(ParseCheckpointIdentity(message));
  if (const auto request = DecodeRequest(message); request.has_value()) {
    const auto again = DecodeRequest(Encode(*request));
    ESPALIER_CHECK(again.has_value()) << Encode(*request) << ": " << again.error().message;
    ESPALIER_CHECK(Encode(*again) == Encode(*request)) << Encode(*request);
  }
  if (const auto reply = DecodeReply(message); reply.has_value()) {
    const auto again = DecodeReply(Encode(*reply));
    ESPALIER_CHECK(again.has_value()) << Encode(*reply) << ": " << again.error().message;
    ESPALIER_CHECK(Encode(*again) == Encode(*reply)) << Encode(*reply);
  }
}

}  // namespace
}  // namespace espalier::worker

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  const std::string_view bytes = fuzz::TextOf(data, size);
  worker::Try(bytes);
  worker::FrameReader reader;
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    reader.Append(bytes.substr(at, 7));
    while (true) {
      const auto message = reader.Next();
      if (!message.has_value() || !message->has_value()) break;
      worker::Try(**message);
    }
  }
  return 0;
}
