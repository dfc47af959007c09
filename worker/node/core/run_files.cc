#include "worker/node/core/run_files.h"

#include <charconv>

namespace espalier::node {
namespace {

bool TakeId(std::string_view& text, std::int64_t& id) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || id <= 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

std::string RunName(RunKey run) { return std::to_string(run.leadership.value) + "-" + std::to_string(run.run.value); }

std::optional<RunKey> ParseRunName(std::string_view name) {
  RunKey run;
  if (!TakeId(name, run.leadership.value) || !name.starts_with('-')) return std::nullopt;
  name.remove_prefix(1);
  if (!TakeId(name, run.run.value) || !name.empty()) return std::nullopt;
  return run;
}

std::string StepLogName(RunKey run) { return RunName(run) + ".log"; }

std::string StagedName(RunKey run, Step step) { return RunName(run) + "-" + std::to_string(step.value) + ".ckpt"; }

}  // namespace espalier::node
