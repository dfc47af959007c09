#include "base/processor.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>
#include <string>

namespace espalier {
namespace {

std::string In(const std::string& description) {
  std::istringstream stream(description);
  return ProcessorIn(stream);
}

TEST_CASE("a processor is called by its maker, family and model, whatever its name") {
  CHECK(In("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
           "model name\t: Intel(R) Xeon(R) Platinum 8480+\nstepping\t: 8\ncpu MHz\t\t: 2600.000\nbugs\t\t: \n\n"
           "processor\t: 1\nvendor_id\t: GenuineIntel\n") == "genuineintel-6-143");
  CHECK(In("processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
           "CPU part\t: 0xd0c\nCPU revision\t: 1\n\n") == "0x41-0xd0c");
  CHECK(In("").empty());
  CHECK(In("model\nmodel\t:\n").empty());
}

TEST_CASE("an administrator may call several processors by one name, or by none") {
  const std::string own = Processor();
  REQUIRE(setenv(kProcessorVariable, " Our Racks ", 1) == 0);
  CHECK(Processor() == "our-racks");
  REQUIRE(setenv(kProcessorVariable, "", 1) == 0);
  CHECK(Processor().empty());
  REQUIRE(unsetenv(kProcessorVariable) == 0);
  CHECK(Processor() == own);
}

}  // namespace
}  // namespace espalier
