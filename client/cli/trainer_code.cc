#include "client/cli/trainer_code.h"

#include <sys/stat.h>
#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <thread>

#include "base/clock.h"
#include "base/this_machine.h"
#include "client/cli/server_access.h"
#include "client/cli/temporary_folder.h"
#include "client/cli/up/run_to_end.h"
#include "client/cli/up/up.h"
#include "client/request_id.h"
#include "client/study_file/study_values.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr Seconds kServerPatience{30};  // of one that has just started
constexpr Seconds kPauseFirst{0.05};
constexpr Seconds kPauseMax{1};

// What there is to say of a trainer besides its name.
struct PackedCode {
  std::string archive{};    // empty: no code travels
  std::string python{};     // that of who packed it
  std::string folder{};     // below which the data lies
  std::string data_seen{};  // the data's digest; empty: it is not there, or has none
  std::vector<std::string> data{};
};

std::string ReadAll(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// As a study file says it, without its folder.
std::string EntryOf(const TrainerCode& code) {
  Entry entry = code.entry;
  entry.file = fs::path(entry.file).filename().string();
  return Print(entry);
}

// Has the code packed into the folder. Error: kInvalidArgument with the field and the last words of who does it.
Result<void> PackInto(const std::string& folder, const TrainerCode& code) {
  const bool is_here = code.python.starts_with('/') && access(code.python.c_str(), X_OK) == 0;
  const std::string python = is_here ? code.python : "python3";
  const std::string& file = code.entry.file;
  if (code.entry.kind == EntryKind::kScript) {
    ESPALIER_ASSIGN(const std::string packer, ProgramBesideThisOne("espalier-script"));
    const Ended ended = RunToEnd({packer, file, "--python", python, "--pack", folder});
    if (ended.status == 0) return {};
    return Wrong("trainer", ended.said + " (docs/script_trainers.md)");
  }
  const std::string place = file + ":" + code.entry.name;
  const Ended ended = RunToEnd({python, "-m", "espalier.archive", place, "--output", folder});
  if (ended.status == 0) return {};
  return Wrong("trainer", place + " cannot be packed by " + python + ": " + ended.last_line +
                              "; its packages are those of " + python +
                              ", and `espalier` is one of them (docs/python_trainers.md)");
}

// Cost: the file is imported, or started, once, which may take seconds. Errors: of PackInto.
Result<PackedCode> PackByProgram(const TrainerCode& code) {
  ESPALIER_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create());
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
    return Wrong("trainer", code.entry.file +
                                " has more than 10 MiB, which travels to no server; give it to them by "
                                "their worker's command line instead (docs/trainers.md)");
  }
  return packed;
}

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

v1::TrainerReference ReferenceOf(const TrainerCode& code, const PackedCode& packed) {
  v1::TrainerReference reference;
  reference.set_entry(EntryOf(code));
  if (HasArchive(code.entry.kind)) reference.set_archive_sha256(Sha256Hex(packed.archive));
  reference.set_python(code.python);
  if (!packed.python.empty() && code.python.empty()) {
    reference.set_client_python(packed.python);
    reference.set_machine(ThisMachine());
    reference.set_uid(getuid());
  }
  reference.set_folder(packed.folder);
  reference.set_data_seen(packed.data_seen);
  reference.mutable_data()->Assign(packed.data.begin(), packed.data.end());
  for (const auto& [name, value] : code.environment) {
    v1::EnvironmentVariable& variable = *reference.add_environment();
    variable.set_name(name);
    variable.set_value(value);
  }
  return reference;
}

Result<std::string> AskFor(Connection& connection, const v1::TrainerReference& reference) {
  v1::DescribeTrainerRequest request;
  request.set_request_id(NewRequestId());
  *request.mutable_reference() = reference;
  ESPALIER_ASSIGN(const v1::DescribeTrainerResponse response, connection.DescribeTrainer(request));
  return response.reference_digest();
}

// Sends the archive if the service has it not. The reference's digest.
Result<std::string> Introduce(Connection& connection, const v1::TrainerReference& reference, const PackedCode& packed) {
  Result<std::string> digest = AskFor(connection, reference);
  if (digest.has_value() || digest.error().code != ErrorCode::kNotFound) return digest;
  v1::PutArchiveRequest put;
  put.set_request_id(NewRequestId());
  put.set_archive(packed.archive);
  ESPALIER_RETURN_IF_ERROR(connection.PutArchive(put));
  return AskFor(connection, reference);
}

std::string Refusals(const v1::GetTrainerResponse& response) {
  std::string text;
  for (const v1::TrainerOnServer& here : response.servers()) {
    text += "\n  " + here.server() + ": " + here.refused();
  }
  return text;
}

// Waits for the servers, and says for which.
class Waiter {
 public:
  Waiter(CommandContext& context, Connection& connection, const v1::TrainerReference& reference, std::string digest)
      : context_(context), connection_(connection), reference_(reference), digest_(std::move(digest)) {}

  Result<std::vector<v1::TrainerDescription>> Wait() {
    const Seconds started = MonotonicNow();
    for (Seconds pause = kPauseFirst;; pause = std::min(2 * pause, kPauseMax)) {
      v1::GetTrainerRequest request;
      request.set_reference_digest(digest_);
      ESPALIER_ASSIGN(const v1::GetTrainerResponse response, connection_.GetTrainer(request));
      if (!response.wanted()) {
        ESPALIER_RETURN_IF_ERROR(AskFor(connection_, reference_));
      }
      int looking_count = 0;
      std::string looking;
      for (const v1::TrainerOnServer& here : response.servers()) {
        if (here.offers_size() > 0) return std::vector(here.offers().begin(), here.offers().end());
        if (!here.refused().empty()) continue;
        ++looking_count;
        looking += (looking.empty() ? "" : ", ") + here.server();
      }
      if (response.servers().empty()) {
        looking = "a server";
        if (MonotonicNow() - started > kServerPatience) {
          return MakeError(ErrorCode::kFailedPrecondition,
                           "no server is connected that could run " + reference_.entry());
        }
      } else if (looking_count == 0 && response.wanted()) {
        return MakeError(ErrorCode::kFailedPrecondition,
                         "no server runs " + reference_.entry() + ":" + Refusals(response), "trainer");
      }
      Say(looking);
      std::this_thread::sleep_for(pause);
    }
  }

 private:
  void Say(const std::string& looking) {
    if (std::exchange(said_, looking) == looking || looking.empty()) return;
    context_.err << "waiting for " << looking << " to look at " << reference_.entry() << std::endl;
  }

  CommandContext& context_;
  Connection& connection_;
  const v1::TrainerReference& reference_;
  const std::string digest_;
  std::string said_;
};

// Of what servers offer by the reference, the one that is meant. A library, or a program, may have several.
Result<v1::TrainerDescription> Choose(const TrainerCode& code, const std::vector<v1::TrainerDescription>& offers) {
  const EntryKind kind = code.entry.kind;
  const std::string named = kind == EntryKind::kLibrary ? code.entry.name : std::string();
  std::vector<std::string_view> names;
  for (const v1::TrainerDescription& offer : offers) {
    if (offer.name() == named) return offer;
    if (std::ranges::find(names, offer.name()) == names.end()) names.push_back(offer.name());
  }
  if (named.empty() && names.size() == 1) return offers.front();
  if (kind == EntryKind::kCommand) {
    return Wrong("trainer", EntryOf(code) + " has several trainers, of which one is expected: " + Joined(names));
  }
  return Wrong("trainer", EntryOf(code) + (named.empty() ? " has several trainers" : " has no such trainer") +
                              "; expected library:FILE.so:NAME with one of: " + Joined(names));
}

bool IsOffered(const std::vector<v1::TrainerDescription>& trainers, const StudySpecification& study) {
  return std::ranges::any_of(trainers, [&](const v1::TrainerDescription& trainer) {
    return trainer.name() == study.trainer && trainer.data() == study.data;
  });
}

}  // namespace

Result<std::vector<v1::TrainerDescription>> TrainersFor(CommandContext& context, Connection& connection,
                                                        StudyFile& file) {
  if (!file.code) return ListTrainersOf(connection);
  const bool is_built_in = file.code->entry.kind == EntryKind::kBuiltIn;
  if (is_built_in) {
    ESPALIER_ASSIGN(std::vector<v1::TrainerDescription> own, ListTrainersOf(connection));
    if (IsOffered(own, file.specification)) return own;
    file.specification.check = CheckWhen::kOff;  // the service's own are sound
  }
  ESPALIER_ASSIGN(const PackedCode packed, Pack(*file.code));
  const v1::TrainerReference reference = ReferenceOf(*file.code, packed);
  ESPALIER_ASSIGN(const std::string digest, Introduce(connection, reference, packed));
  ESPALIER_ASSIGN(const std::vector<v1::TrainerDescription> offers,
                  Waiter(context, connection, reference, digest).Wait());
  ESPALIER_ASSIGN(const v1::TrainerDescription chosen, Choose(*file.code, offers));
  file.specification.trainer = chosen.name();
  file.specification.reference = digest;
  if (file.specification.data.empty()) file.specification.data = chosen.data();
  return offers;
}

int FailTrainer(CommandContext& context, const StudyFile& file, const Error& error) {
  if (error.code == ErrorCode::kInvalidArgument) return FailFile(context, AtField(file, error));
  return Fail(context, error);
}

}  // namespace espalier
