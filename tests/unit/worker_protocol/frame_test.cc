#include "worker/protocol/frame.h"

#include <catch2/catch.hpp>

namespace espalier::worker {

TEST_CASE("messages pass in whatever pieces their frames come") {
  const std::string frames = FrameOf("first").value() + FrameOf("").value() + FrameOf("third").value();
  CHECK(frames.substr(0, 9) == std::string("\5\0\0\0first", 9));
  for (std::size_t size = 1; size <= frames.size(); ++size) {
    FrameReader reader;
    std::vector<std::string> messages;
    for (std::size_t at = 0; at < frames.size(); at += size) {
      reader.Append(std::string_view(frames).substr(at, size));
      while (const auto message = reader.Next().value()) messages.push_back(*message);
    }
    CHECK(messages == std::vector<std::string>{"first", "", "third"});
  }
}

TEST_CASE("a message that is too long is neither written nor read, before a byte of it has come") {
  CHECK(FrameOf(std::string(kFrameBytesMax, 'x')).has_value());
  CHECK(FrameOf(std::string(kFrameBytesMax + 1, 'x')).error().code == ErrorCode::kResourceExhausted);
  FrameReader reader;
  reader.Append(std::string("\1\0\0\1", 4));
  CHECK(reader.Next().error().code == ErrorCode::kResourceExhausted);
  CHECK_FALSE(reader.Next().has_value());
}

TEST_CASE("a reader that is always behind keeps no more than it was not asked for") {
  FrameReader reader;
  const std::string frame = FrameOf(std::string(1 << 20, 'x')).value();
  for (int i = 0; i < 100; ++i) {
    reader.Append(frame);
    reader.Append(std::string_view(frame).substr(0, 10));
    REQUIRE(reader.Next().value().has_value());
    REQUIRE_FALSE(reader.Next().value().has_value());
    reader.Append(std::string_view(frame).substr(10));
    REQUIRE(reader.Next().value().has_value());
  }
}

}  // namespace espalier::worker
