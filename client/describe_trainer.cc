#include "client/describe_trainer.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "base/clock.h"
#include "base/digest.h"
#include "base/this_machine.h"
#include "client/pack_code.h"
#include "client/request_id.h"

namespace espalier {
namespace {

constexpr Seconds kServerPatience{30};  // of one that has just started
constexpr Seconds kPauseFirst{0.05};
constexpr Seconds kPauseMax{1};

constexpr Seconds kTrainerPatience{10};
constexpr Seconds kTrainerPause{0.1};

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
class DescriptionWait {
 public:
  DescriptionWait(Connection& connection, const v1::TrainerReference& reference, std::string digest, const OnWait& say)
      : connection_(connection), reference_(reference), digest_(std::move(digest)), say_(say) {}

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
    if (std::exchange(said_, looking) == looking || looking.empty() || !say_) return;
    say_("waiting for " + looking + " to look at " + reference_.entry());
  }

  Connection& connection_;
  const v1::TrainerReference& reference_;
  const std::string digest_;
  const OnWait& say_;
  std::string said_;
};

// Of what servers offer by the reference, the one that is meant. A library, or a program, may have several.
Result<v1::TrainerDescription> Choose(const TrainerCode& code, const std::vector<v1::TrainerDescription>& offers) {
  const EntryKind kind = code.entry.kind;
  const std::string named = kind == EntryKind::kLibrary ? code.entry.name : std::string();
  std::set<std::string_view> names;
  for (const v1::TrainerDescription& offer : offers) {
    if (offer.name() == named) return offer;
    names.insert(offer.name());
  }
  if (named.empty() && names.size() == 1) return offers.front();
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  if (kind == EntryKind::kCommand) {
    return WrongTrainer(EntryOf(code) + " has several trainers, of which one is expected: " + all);
  }
  return WrongTrainer(EntryOf(code) + (named.empty() ? " has several trainers" : " has no such trainer") +
                      "; expected library:FILE.so:NAME with one of: " + all);
}

bool IsOffered(const std::vector<v1::TrainerDescription>& trainers, const StudySpecification& study) {
  return std::ranges::any_of(trainers, [&](const v1::TrainerDescription& trainer) {
    return trainer.name() == study.trainer && trainer.data() == study.data;
  });
}

}  // namespace

Result<std::vector<v1::TrainerDescription>> RegisteredTrainers(Connection& connection) {
  const Seconds started = MonotonicNow();
  while (true) {
    ESPALIER_ASSIGN(const v1::ListTrainersResponse response, connection.ListTrainers({}));
    if (response.trainers_size() > 0 || MonotonicNow() - started > kTrainerPatience) {
      return std::vector<v1::TrainerDescription>(response.trainers().begin(), response.trainers().end());
    }
    std::this_thread::sleep_for(kTrainerPause);
  }
}

Result<std::vector<v1::TrainerDescription>> DescribeTrainer(Connection& connection, const TrainerCode& code,
                                                            StudySpecification& specification, const OnWait& say) {
  specification.described = true;
  if (code.entry.kind == EntryKind::kBuiltIn) {
    ESPALIER_ASSIGN(std::vector<v1::TrainerDescription> own, RegisteredTrainers(connection));
    if (IsOffered(own, specification)) return own;
    specification.check = CheckWhen::kOff;  // the service's own are sound
  }
  ESPALIER_ASSIGN(const PackedCode packed, Pack(code));
  const v1::TrainerReference reference = ReferenceOf(code, packed);
  ESPALIER_ASSIGN(const std::string digest, Introduce(connection, reference, packed));
  ESPALIER_ASSIGN(const std::vector<v1::TrainerDescription> offers,
                  DescriptionWait(connection, reference, digest, say).Wait());
  ESPALIER_ASSIGN(const v1::TrainerDescription chosen, Choose(code, offers));
  specification.trainer = chosen.name();
  specification.reference = digest;
  if (specification.data.empty()) specification.data = chosen.data();
  return offers;
}

}  // namespace espalier
