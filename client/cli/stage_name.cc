#include "client/cli/stage_name.h"

#include <charconv>

namespace espalier {
namespace {

// Digits alone, of a number that fits.
bool ParseNumber(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0;
}

}  // namespace

Result<v1::StagePoint> ParseStageName(const std::string& name) {
  const std::size_t at = name.find('@');
  std::int64_t node = 0;
  std::int64_t step = 0;
  const std::string_view text = name;
  if (at == std::string::npos || !ParseNumber(text.substr(0, at), node) || !ParseNumber(text.substr(at + 1), step)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "got " + name + "; expected NODE@STEP, like 7@20 (`espalier plan show STUDY` shows the nodes)",
                     "STAGE");
  }
  v1::StagePoint point;
  point.set_plan_node_id(node);
  point.set_step(step);
  return point;
}

std::string StageName(const v1::StagePoint& point) {
  return std::to_string(point.plan_node_id()) + "@" + std::to_string(point.step());
}

}  // namespace espalier
