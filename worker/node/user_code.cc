#include "worker/node/user_code.h"

#include <unistd.h>

#include <algorithm>

namespace espalier::node {
namespace {

tl::unexpected<Error> Refused(const std::string& why) { return MakeError(ErrorCode::kFailedPrecondition, why, ""); }

bool CanExecute(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::string NamesOf(const std::vector<Interpreter>& pythons) {
  std::string names;
  for (const Interpreter& each : pythons) names += (names.empty() ? "" : ", ") + each.name;
  return names.empty() ? "none is named there" : "it knows: " + names;
}

Result<std::string> Executable(const Host& host, const std::string& path) {
  if (path.find('=') != std::string::npos) return Refused("python: a path with '=' in it cannot be run: " + path);
  if (CanExecute(path)) return path;
  return Refused("python: " + path + " is no program that " + host.server + " can run; " + NamesOf(host.rules.pythons));
}

}  // namespace

Result<void> MayRun(const Host& host, const TrainerReference& reference) {
  const std::vector<std::string>& of = host.rules.of;
  const auto is_listed = [&](const std::string& name) { return std::find(of.begin(), of.end(), name) != of.end(); };
  switch (host.rules.kind) {
    case UserCode::kNone:
      return Refused("it runs nobody's own code (user_code: none)");
    case UserCode::kListed:
      if (is_listed(reference.user) || is_listed("team:" + reference.team)) return {};
      return Refused("it runs the code of those that its owner has listed, and " + reference.user +
                     " is not among them (user_code: listed)");
    case UserCode::kOwnJobs:
      if (is_listed(reference.user)) return {};
      return Refused("it runs the code of its owner alone, and " + reference.user +
                     " is another user (user_code: own_jobs)");
  }
  return {};
}

Result<std::string> PythonFor(const Host& host, const TrainerReference& reference) {
  if (const auto program = ProgramOf(reference.entry)) {
    if (const auto found = Executable(host, host.script_worker); !found.has_value()) {
      return Refused("it has no espalier-script beside espalier-node, which starts programs: build or install it");
    }
    if (!program->ends_with(".py")) return std::string();
  }
  const std::vector<Interpreter>& pythons = host.rules.pythons;
  if (reference.python.starts_with('/')) return Executable(host, reference.python);
  if (!reference.python.empty()) {
    const auto named = std::ranges::find(pythons, reference.python, &Interpreter::name);
    if (named != pythons.end()) return Executable(host, named->path);
    return Refused("python: " + host.server + " knows no interpreter " + reference.python + "; " + NamesOf(pythons));
  }
  const ClientPython& client = reference.client;
  const bool is_here = !client.path.empty() && !host.machine.empty() && client.machine == host.machine;
  if (is_here && client.uid == host.uid) return Executable(host, client.path);
  if (!pythons.empty()) return Executable(host, pythons.front().path);
  return Refused("python: which interpreter is to run it there is not known; give a path of " + host.server +
                 " in the study file, as python: PATH");
}

std::vector<std::string> CommandOf(const Host& host, const TrainerReference& reference, const std::string& python,
                                   const std::filesystem::path& archive) {
  std::vector<std::string> command{"/usr/bin/env"};
  for (const auto& [name, value] : reference.environment) command.push_back(name + "=" + value);
  const auto add = [&](std::initializer_list<std::string> words) { command.insert(command.end(), words); };
  if (const auto program = ProgramOf(reference.entry)) {
    add({host.script_worker, *program});
    if (!python.empty()) add({"--python", python});
  } else {
    add({python, "-m", "espalier.worker", reference.entry});
  }
  add({"--archive", archive.string(), "--folder", reference.folder});
  for (const std::string& path : reference.data) command.push_back("--data=" + path);
  for (const auto& [name, value] : reference.environment) command.push_back("--environment=" + name);
  return command;
}

}  // namespace espalier::node
