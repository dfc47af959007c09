// Canonical bytes, as the database and the wire carry them: what is taken is what would be written.
#include "searchplan/sequence/configuration.h"
#include "searchplan/sequence/function.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  const std::string bytes(fuzz::TextOf(data, size));
  if (const auto configuration = ParseConfiguration(bytes); configuration.has_value()) {
    ESPALIER_CHECK(CanonicalBytes(*configuration) == bytes) << "a configuration has two forms";
  }
  if (const auto packed = PackedConfiguration::Parse(bytes); packed.has_value()) {
    ESPALIER_CHECK(packed->bytes() == bytes && CanonicalBytes(packed->Unpack()) == bytes) << "it changes as it is kept";
  }
  if (const auto function = ParseCanonicalBytes(bytes); function.has_value()) {
    ESPALIER_CHECK(CanonicalBytes(*function) == bytes) << "a function has two forms";
    static_cast<void>(At(*function, function->origin));
  }
  return 0;
}
