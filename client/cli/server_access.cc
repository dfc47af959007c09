#include "client/cli/server_access.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ostream>
#include <thread>

#include "base/clock.h"
#include "base/token.h"

namespace espalier {
namespace {

constexpr Seconds kTrainerPatience{10};
constexpr Seconds kTrainerPause{0.1};

bool AllDigits(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

Result<Client> ConnectToServer(const CommandContext& context) {
  std::string address = context.server;
  if (address.empty()) {
    ESPALIER_ASSIGN(address, ReadServerAddress(AddressFile(context.data_directory)));
  }
  if (context.token_file.empty()) return Client::Connect(address, context.token);
  ESPALIER_ASSIGN(const std::string token, ReadTokenFile(context.token_file));
  return Client::Connect(address, token);
}

Result<v1::StudySummary> FindStudy(Connection& connection, const std::string& id_or_name) {
  v1::GetStudyRequest request;
  std::int64_t id = 0;
  std::from_chars(id_or_name.data(), id_or_name.data() + id_or_name.size(), id);
  if (AllDigits(id_or_name)) {
    request.set_study_id(id);
  } else {
    request.set_name(id_or_name);
  }
  Result<v1::GetStudyResponse> response = connection.GetStudy(request);
  if (response.has_value()) return response->study();
  if (response.error().code != ErrorCode::kNotFound) return tl::unexpected<Error>(response.error());
  return MakeError(ErrorCode::kNotFound, "no study " + id_or_name + "; see: espalier study list");
}

Result<std::vector<v1::Trial>> ListTrialsOf(Connection& connection, std::int64_t study_id) {
  v1::ListTrialsRequest request;
  request.set_study_id(study_id);
  ESPALIER_ASSIGN(const v1::ListTrialsResponse response, connection.ListTrials(request));
  return std::vector<v1::Trial>(response.trials().begin(), response.trials().end());
}

Result<std::vector<v1::TrainerDescription>> ListTrainersOf(Connection& connection) {
  const Seconds started = MonotonicNow();
  while (true) {
    ESPALIER_ASSIGN(const v1::ListTrainersResponse response, connection.ListTrainers({}));
    if (response.trainers_size() > 0 || MonotonicNow() - started > kTrainerPatience) {
      return std::vector<v1::TrainerDescription>(response.trainers().begin(), response.trainers().end());
    }
    std::this_thread::sleep_for(kTrainerPause);
  }
}

int FailFile(CommandContext& context, const FileError& error) {
  context.err << Print(error) << '\n';
  return kExitUsage;
}

}  // namespace espalier
