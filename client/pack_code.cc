#include "client/pack_code.h"

#include <sys/stat.h>
#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/digest.h"
#include "base/programs.h"
#include "base/run_to_end.h"
#include "base/scratch_folder.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr char kScriptWorker[] = "espalier-script";

std::string ReadAll(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// Has the code packed into the folder. Error: kInvalidArgument with the field and the last words of who does it.
Result<void> PackInto(const std::string& folder, const TrainerCode& code) {
  const bool is_here = code.python.starts_with('/') && access(code.python.c_str(), X_OK) == 0;
  const std::string python = is_here ? code.python : "python3";
  const std::string& file = code.entry.file;
  if (code.entry.kind == EntryKind::kScript) {
    const Ended ended = RunToEnd({FindProgram(kScriptWorker), file, "--python", python, "--pack", folder});
    if (ended.status == 0) return {};
    if (IsNotFound(ended)) return NotInstalled(kScriptWorker);
    return WrongTrainer(ended.said + " (docs/script_trainers.md)");
  }
  const std::string place = file + ":" + code.entry.name;
  const Ended ended = RunToEnd({python, "-m", "espalier.archive", place, "--output", folder});
  if (ended.status == 0) return {};
  return WrongTrainer(place + " cannot be packed by " + python + ": " + ended.last_line +
                      "; its packages are those of " + python +
                      ", and `espalier` is one of them (docs/python_trainers.md)");
}

// Cost: the file is imported, or started, once, which may take seconds. Errors: of PackInto.
Result<PackedCode> PackByProgram(const TrainerCode& code) {
  ESPALIER_ASSIGN(const ScratchFolder folder, ScratchFolder::Create());
  ESPALIER_RETURN_IF_ERROR(PackInto(folder.path().string(), code));
  PackedCode packed{.archive = ReadAll(folder.path() / "archive.zip"),
                    .folder = fs::path(code.entry.file).parent_path().string()};
  std::istringstream about(ReadAll(folder.path() / "about"));
  std::getline(about, packed.python);
  std::getline(about, packed.data_seen);
  for (std::string line; std::getline(about, line);) packed.data.push_back(line);
  return packed;
}

// The files that a shell's line names, seen from the folder; none of a line that is more than words.
std::vector<fs::path> FilesIn(const std::string& line, const std::string& folder) {
  std::vector<fs::path> files;
  wordexp_t words{};
  if (wordexp(line.c_str(), &words, WRDE_NOCMD | WRDE_UNDEF) == 0) {
    for (std::size_t i = 0; i < words.we_wordc; ++i) files.push_back(fs::path(folder) / words.we_wordv[i]);
  }
  wordfree(&words);
  std::error_code error;
  std::erase_if(files, [&](const fs::path& file) { return !fs::is_regular_file(file, error); });
  return files;
}

// What files look like from outside: names, sizes and times of change. Empty: there are none. Cost: a look at each.
std::string LookOf(std::vector<fs::path> files) {
  std::ranges::sort(files, {}, [](const fs::path& file) -> const std::string& { return file.native(); });
  std::string look;
  for (const fs::path& file : files) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const std::int64_t changed = status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
    look += file.string() + ' ' + std::to_string(status.st_size) + ' ' + std::to_string(changed) + '\n';
  }
  return look.empty() ? look : Sha256Hex(look);
}

std::vector<fs::path> FilesBelow(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (auto it = fs::recursive_directory_iterator(folder, error); !error && it != fs::end(it); it.increment(error)) {
    files.push_back(it->path());
  }
  return files;
}

Result<PackedCode> PackLibrary(const TrainerCode& code) {
  PackedCode packed{.archive = ReadAll(code.entry.file), .folder = code.folder};
  if (packed.archive.size() > kArchiveBytesMax) {
    return WrongTrainer(code.entry.file +
                        " has more than 10 MiB, which travels to no server; give it to them by "
                        "their worker's command line instead (docs/trainers.md)");
  }
  return packed;
}

}  // namespace

Result<PackedCode> Pack(const TrainerCode& code) {
  PackedCode packed{.folder = code.folder};
  switch (code.entry.kind) {
    case EntryKind::kPython:
    case EntryKind::kScript:
      return PackByProgram(code);
    case EntryKind::kCommand:
      packed.data_seen = LookOf(FilesIn(code.entry.name, code.folder));
      return packed;
    case EntryKind::kLibrary:
    case EntryKind::kTorchScript: {
      ESPALIER_ASSIGN(packed, PackLibrary(code));
      break;
    }
    case EntryKind::kBuiltIn:
      break;
  }
  if (code.data.empty()) return packed;
  const fs::path data(code.data);
  packed.folder = data.parent_path().string();
  packed.data = {data.filename().string()};
  packed.data_seen = LookOf(FilesBelow(data));
  return packed;
}

}  // namespace espalier
