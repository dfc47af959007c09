// Checkpoint files, whole and cut, of Espalier and of others: what is read whole has the digest that it says.
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "worker/checkpoint/checkpoint_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  static const int file = memfd_create("checkpoint", 0);
  ESPALIER_CHECK(file >= 0 && ftruncate(file, 0) == 0);
  ESPALIER_CHECK(pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const auto read = ReadCheckpointFile(path);
  const auto checked = CheckCheckpointFile(path);
  ESPALIER_CHECK(read.has_value() == checked.has_value()) << "two readers differ";
  if (read.has_value()) ESPALIER_CHECK(Sha256Of(read->state) == read->head.state_sha256) << "it is not what it says";
  return 0;
}
