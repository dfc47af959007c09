#include "worker/checkpoint/checkpoint_store.h"

#include <algorithm>

#include "worker/checkpoint/checkpoint_format.h"

namespace espalier {

Result<void> CheckStoreName(std::string_view name) {
  const std::filesystem::path relative(name);
  const bool leads_out = std::ranges::any_of(relative, [](const auto& part) { return part == ".." || part == "."; });
  if (relative.has_filename() && !relative.is_absolute() && !leads_out && !name.ends_with(kTemporarySuffix) &&
      name != kStoreSign) {
    return {};
  }
  return MakeError(ErrorCode::kInvalidArgument,
                   "'" + std::string(name) + "' cannot name a checkpoint: a relative path is expected");
}

}  // namespace espalier
