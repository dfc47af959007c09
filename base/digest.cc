#include "base/digest.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include "base/check.h"

namespace espalier {
namespace {

std::string Hex(const std::uint8_t* bytes, std::size_t size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * size);
  for (std::size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Digest128 DigestOf(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  Digest128 digest;
  std::copy(std::begin(canonical.digest), std::end(canonical.digest), digest.bytes.begin());
  return digest;
}

std::string ToHex(const Digest128& digest) { return Hex(digest.bytes.data(), digest.bytes.size()); }

Result<Digest128> ParseDigest128(std::string_view hex) {
  Digest128 digest;
  if (hex.size() != 2 * digest.bytes.size()) {
    return MakeError(ErrorCode::kInvalidArgument, "a digest has 32 hexadecimal digits");
  }
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const int high = HexDigit(hex[2 * i]);
    const int low = HexDigit(hex[2 * i + 1]);
    if (high < 0 || low < 0) {
      return MakeError(ErrorCode::kInvalidArgument, "a digest has 32 lower-case hexadecimal digits");
    }
    digest.bytes[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  return digest;
}

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(evp); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  ESPALIER_CHECK(EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() = default;

void Sha256::Update(std::string_view bytes) {
  ESPALIER_CHECK(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::FinishHex() {
  std::uint8_t digest[32];
  ESPALIER_CHECK(EVP_DigestFinal_ex(context_->evp, digest, nullptr) == 1);
  return Hex(digest, sizeof(digest));
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 sha;
  sha.Update(bytes);
  return sha.FinishHex();
}

}  // namespace espalier
