#include "worker/node/work_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>

#include "worker/checkpoint/checkpoint_format.h"
#include "worker/node/core/run_files.h"

namespace espalier::node {
namespace {

namespace fs = std::filesystem;

constexpr const char* kId = "id";
constexpr const char* kLock = "lock";
constexpr const char* kFolders[] = {"staging", "steps", "logs", "fetched"};
constexpr std::string_view kPathLine = "path ";  // begins a line of a step log that says a stage of the run's path

std::string ReadAll(const fs::path& file, std::int64_t offset = 0) {
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(offset);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void WriteAll(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::trunc) << text; }

// The same, by writing over what a file holds. One that is emptied before is written to the disk when it is closed, by
// ext4 at least.
void WriteOver(const fs::path& file, const std::string& text) {
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return;
  const ssize_t written = write(fd, text.data(), text.size());
  if (ftruncate(fd, std::max<ssize_t>(written, 0)) != 0) unlink(file.c_str());
  close(fd);
}

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kIdLength = 16;

std::string RandomId() {
  std::random_device random;
  std::string id;
  while (id.size() < kIdLength) id += kDigits[random() % kDigits.size()];
  return id;
}

// As the file says, or a new one, which it says from now on.
Result<std::string> ReadOrMakeId(const fs::path& file) {
  std::string id = ReadAll(file);
  if (id.size() == kIdLength && id.find_first_not_of(kDigits) == std::string::npos) return id;
  id = RandomId();
  const fs::path made = file.string() + ".new";
  WriteAll(made, id);
  std::error_code error;
  fs::rename(made, file, error);
  if (error || ReadAll(file) != id) return MakeError(ErrorCode::kInternal, "cannot write " + file.string());
  return id;
}

std::vector<fs::path> FilesIn(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) files.push_back(entry.path());
  return files;
}

}  // namespace

bool WorkDirectory::IsSetUp(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / kLock, error);
}

Result<WorkDirectory> WorkDirectory::Open(const fs::path& folder) {
  std::error_code error;
  for (const char* name : kFolders) {
    fs::create_directories(folder / name, error);
    if (error)
      return MakeError(ErrorCode::kInternal, "cannot make " + (folder / name).string() + ": " + error.message());
  }
  const fs::path file = folder / kLock;
  const int lock = open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (lock < 0) return MakeError(ErrorCode::kInternal, "cannot open " + file.string() + ": " + std::strerror(errno));
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    close(lock);
    return MakeError(ErrorCode::kFailedPrecondition, "another node manager uses " + folder.string());
  }
  Result<std::string> id = ReadOrMakeId(folder / kId);
  if (!id.has_value()) {
    close(lock);
    return tl::unexpected(id.error());
  }
  WorkDirectory directory(folder, *std::move(id), lock);
  for (const fs::path& copy : FilesIn(directory.fetched())) unlink(copy.c_str());
  return directory;
}

WorkDirectory::WorkDirectory(fs::path folder, std::string id, int lock)
    : folder_(std::move(folder)), id_(std::move(id)), lock_(lock) {}

WorkDirectory::WorkDirectory(WorkDirectory&& other) noexcept
    : folder_(std::move(other.folder_)), id_(std::move(other.id_)), lock_(std::exchange(other.lock_, -1)) {}

WorkDirectory::~WorkDirectory() {
  if (lock_ >= 0) close(lock_);
}

std::string WorkDirectory::NewIncarnation() const { return id_ + "-" + RandomId(); }

std::int64_t WorkDirectory::FreeBytes() const {
  std::error_code error;
  const fs::space_info space = fs::space(folder_, error);
  return error ? 0 : static_cast<std::int64_t>(space.available);
}

void WorkDirectory::RecordRun(RunKey run, const std::vector<PathStage>& path) {
  std::string text;
  for (const PathStage& stage : path) {
    text += std::string(kPathLine) + std::to_string(stage.node.value) + " " + std::to_string(stage.from.value) + " " +
            std::to_string(stage.to.value) + "\n";
  }
  WriteOver(spare_log(), text);
  rename(spare_log().c_str(), (steps() / StepLogName(run)).c_str());
}

void WorkDirectory::ForgetRun(RunKey run) { rename((steps() / StepLogName(run)).c_str(), spare_log().c_str()); }

std::string WorkDirectory::ReadStepLog(RunKey run, std::int64_t offset) const {
  return ReadAll(steps() / StepLogName(run), offset);
}

std::vector<WorkDirectory::LeftOverRun> WorkDirectory::LeftOverRuns() const {
  std::vector<LeftOverRun> runs;
  for (const fs::path& file : FilesIn(steps())) {
    const std::optional<RunKey> key = ParseRunName(file.stem().string());
    if (!key.has_value()) continue;
    LeftOverRun run{*key, {}};
    std::istringstream text(ReadAll(file));
    for (std::string line; std::getline(text, line) && line.starts_with(kPathLine);) {
      std::istringstream fields(line.substr(kPathLine.size()));
      PathStage stage;
      if (fields >> stage.node.value >> stage.from.value >> stage.to.value) run.path.push_back(stage);
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

void WorkDirectory::DeleteTemporaries() const {
  std::error_code ignored;
  fs::remove_all(temporary(), ignored);
  for (const fs::path& file : FilesIn(staging())) {
    if (file.string().ends_with(kTemporarySuffix)) unlink(file.c_str());
  }
}

std::vector<fs::path> WorkDirectory::StagedCheckpoints() const { return FilesIn(staging()); }

void DeleteStagedFile(const fs::path& file) {
  if (unlink(file.c_str()) == 0) return;
  unlink((file.string() + std::string(kTemporarySuffix)).c_str());
}

}  // namespace espalier::node
