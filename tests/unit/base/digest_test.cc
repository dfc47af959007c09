#include "base/digest.h"

#include <catch2/catch.hpp>

namespace espalier {

TEST_CASE("digests are the same in every release") {
  CHECK(ToHex(DigestOf("")) == "99aa06d3014798d86001c324468d497f");
  CHECK(Sha256Hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("a digest in hexadecimal reads back, and nothing else does") {
  const Digest128 digest = DigestOf("espalier");
  CHECK(ParseDigest128(ToHex(digest)).value() == digest);
  CHECK_FALSE(ParseDigest128("12").has_value());
  CHECK_FALSE(ParseDigest128(std::string(32, 'X')).has_value());
}

TEST_CASE("an error said of a nested field names the whole path") {
  const Error error{ErrorCode::kInvalidArgument, "expected a whole number", "[2]"};
  CHECK(InField("hyper_parameters", InField("lr", error).value()).value().field == "hyper_parameters.lr[2]");
}

}  // namespace espalier
