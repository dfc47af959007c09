#include "worker/node/user_code.h"

#include <unistd.h>

#include <algorithm>

namespace espalier::node {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> Refused(const std::string& why) { return MakeError(ErrorCode::kFailedPrecondition, why, ""); }

bool CanExecute(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
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

Result<std::string> InterpreterFor(const Host& host, const TrainerReference& reference) {
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

// Of the server's own worker. Where the study names no data it is what is built in.
std::vector<std::string> OwnWorkerCommand(const Host& host, const TrainerReference& reference,
                                          const std::string& trainer) {
  std::vector<std::string> command{host.own_worker, "--trainer", trainer};
  for (const std::string& path : reference.data) {
    command.insert(command.end(), {"--data", (fs::path(reference.folder) / path).string()});
  }
  return command;
}

// What is given to the line begins with the first of its own words.
std::vector<std::string> LineCommand(const TrainerReference& reference, const std::string& line) {
  return {"/bin/sh", "-c", "cd \"$1\" && shift && exec " + line + " \"$@\"", "worker", reference.folder};
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
  const Entry entry = ParseEntry(reference.entry);
  switch (entry.kind) {
    case EntryKind::kPython:
      return InterpreterFor(host, reference);
    case EntryKind::kScript:
      if (!CanExecute(host.script_worker)) {
        return Refused("it has no espalier-script beside espalier-node, which starts programs: build or install it");
      }
      return entry.file.ends_with(".py") ? InterpreterFor(host, reference) : std::string();
    case EntryKind::kLibrary:
    case EntryKind::kTorchScript:
    case EntryKind::kBuiltIn:
      if (CanExecute(host.own_worker)) return std::string();
      return Refused("it has no espalier-worker beside espalier-node, which runs such trainers: build or install it");
    case EntryKind::kCommand:
      return std::string();
  }
  return std::string();
}

fs::path ArchivePath(const fs::path& folder, Digest128 digest, const Entry& entry) {
  if (!HasArchive(entry.kind)) return {};
  if (!IsOfOwnWorker(entry.kind)) return folder / (ToHex(digest) + ".zip");
  return folder / ToHex(digest) / entry.file;  // whose name says what it is, and names a module
}

std::vector<std::string> CommandOf(const Host& host, const TrainerReference& reference, const std::string& python,
                                   const fs::path& archive) {
  const Entry entry = ParseEntry(reference.entry);
  if (entry.kind == EntryKind::kCommand) return LineCommand(reference, entry.name);
  if (IsOfOwnWorker(entry.kind)) {
    return OwnWorkerCommand(host, reference, archive.empty() ? entry.name : archive.string());
  }
  std::vector<std::string> command{"/usr/bin/env"};
  for (const auto& [name, value] : reference.environment) command.push_back(name + "=" + value);
  const auto add = [&](std::initializer_list<std::string> words) { command.insert(command.end(), words); };
  if (entry.kind == EntryKind::kScript) {
    add({host.script_worker, entry.file});
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
