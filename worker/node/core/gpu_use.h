// What one look at a GPU tells. A value.
#pragma once

#include <cstdint>

namespace espalier::node {

// Of all who use it.
struct GpuUse {
  int utilization = 0;            // thousandths of the last moment's time in which it computed, 0 to 1000
  std::int64_t memory_bytes = 0;  // in use, >= 0
  friend bool operator==(const GpuUse&, const GpuUse&) = default;
};

}  // namespace espalier::node
