#include "protocol/store_name.h"

#include <charconv>
#include <cstdint>

namespace espalier {
namespace {

// So many that none is too large to list, so few that a new file seldom needs a new one.
constexpr std::int64_t kFoldersOfAPlan = 256;

// Takes a number and the character behind it.
bool Take(std::string_view& text, std::int64_t& number, char behind) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != behind) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

}  // namespace

std::string StoreName(PlanId plan, Point point, RunKey run) {
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  return text(plan.value) + "/" + text(point.node.value % kFoldersOfAPlan) + "/" + text(point.node.value) + "-" +
         text(point.step.value) + "-" + text(run.leadership.value) + "-" + text(run.run.value) + ".ckpt";
}

std::optional<StoredPoint> ParseStoreName(std::string_view name) {
  StoredPoint stored;
  std::int64_t folder = 0;
  std::string_view rest = name;
  const bool has_form = Take(rest, stored.plan.value, '/') && Take(rest, folder, '/') &&
                        Take(rest, stored.point.node.value, '-') && Take(rest, stored.point.step.value, '-') &&
                        Take(rest, stored.run.leadership.value, '-') && Take(rest, stored.run.run.value, '.');
  if (!has_form || StoreName(stored.plan, stored.point, stored.run) != name) return std::nullopt;
  return stored;
}

}  // namespace espalier
