#include "client/client.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/token.h"
#include "client/connection.h"
#include "client/convert.h"
#include "client/convert_views.h"
#include "client/describe_trainer.h"
#include "client/fetch_checkpoint.h"
#include "client/local_service.h"
#include "client/request_id.h"
#include "client/store_program.h"
#include "client/trainer_code.h"

namespace espalier {

namespace {

// Whoever may enter the folder of `up`'s socket may have what lies beside it. Empty if nothing does.
std::string TokenBesideSocket(const std::string& address) {
  return ReadTokenFile(BesideSocket(address, "token")).value_or("");
}

}  // namespace

Result<Client> Client::Connect(const std::string& address, const std::string& token) {
  return Connect(address, RetryPolicy{}, token);
}

Result<Client> Client::Connect(const std::string& address, const RetryPolicy& policy, const std::string& token,
                               const Encryption& encryption) {
  std::string shown;
  if (token.empty()) {
    shown = TokenBesideSocket(address);
  } else {
    ESPALIER_ASSIGN(shown, ParseToken(token));
  }
  ESPALIER_ASSIGN(std::shared_ptr<Connection> connection, Connection::Open(address, policy, shown, encryption));
  return Client(std::move(connection));
}

Result<StudySpecification> Client::DescribeTrainer(StudySpecification specification, const OnWait& say) {
  if (specification.described) return specification;
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  ESPALIER_ASSIGN(const std::optional<TrainerCode> code, TrainerCodeOf(specification, here));
  if (code && !code->data.empty()) specification.data = code->data;
  if (code) ESPALIER_RETURN_IF_ERROR(espalier::DescribeTrainer(*connection_, *code, specification, say));
  specification.described = true;
  return specification;
}

Result<Study> Client::CreateStudy(const StudySpecification& specification) {
  ESPALIER_ASSIGN(const StudySpecification described, DescribeTrainer(specification));
  v1::CreateStudyRequest request;
  request.set_request_id(NewRequestId());
  *request.mutable_study() = ToWire(described);
  ESPALIER_ASSIGN(const v1::CreateStudyResponse response, connection_->CreateStudy(request));
  return Study(connection_, StudyId{response.study_id()}, response.attached());
}

Study Client::OpenStudy(StudyId id) { return Study(connection_, id, true); }

Result<Study> Client::FindStudy(const std::string& name) {
  v1::GetStudyRequest request;
  request.set_name(name);
  ESPALIER_ASSIGN(const v1::GetStudyResponse response, connection_->GetStudy(request));
  return OpenStudy(StudyId{response.study().study_id()});
}

Result<std::vector<StudyEntry>> Client::ListStudies(std::size_t count_max) {
  constexpr std::size_t kPage = 1000;
  v1::ListStudiesRequest request;
  std::vector<StudyEntry> studies;
  while (studies.size() < count_max) {
    request.set_page_size(static_cast<std::int32_t>(std::min(kPage, count_max - studies.size())));
    ESPALIER_ASSIGN(const v1::ListStudiesResponse page, connection_->ListStudies(request));
    for (const v1::StudyListing& study : page.studies()) studies.push_back(ToView(study));
    if (page.next_page_token().empty()) break;
    request.set_page_token(page.next_page_token());
  }
  return studies;
}

Result<ForecastView> Client::Forecast(const StudySpecification& specification, const std::vector<TrialText>& trials,
                                      const SubmitOptions& options) {
  ESPALIER_ASSIGN(const StudySpecification described, DescribeTrainer(specification));
  v1::ForecastRequest request;
  v1::ForecastStudy& study = *request.add_studies();
  *study.mutable_study() = ToWire(described);
  for (const TrialText& trial : trials) {
    *study.add_trials() = ToWire(tuners::StartTrial{trial, options.steps, options.horizon});
  }
  ESPALIER_ASSIGN(const v1::ForecastResponse response, connection_->Forecast(request));
  return ToView(response);
}

Result<CheckpointView> Client::FetchCheckpoint(TrialId trial, const std::string& file, const FetchOptions& options) {
  std::error_code error;
  if (std::filesystem::exists(file, error)) {
    return MakeError(ErrorCode::kInvalidArgument, file + " exists already; give it another name", "file");
  }
  std::string place = options.store;
  if (place.empty()) {
    ESPALIER_ASSIGN(place, StorePlaceOf(DataDirectoryOf(connection_->address()), "`store`"));
  }
  ESPALIER_ASSIGN(const v1::ListedCheckpoint found, FindOrTrain(*this, trial, options));
  ESPALIER_RETURN_IF_ERROR(StoreProgram(place).Get(found.state().file(), file));
  return ToView(found);
}

Result<std::string> ReadServerAddress(const std::string& address_file) {
  std::ifstream file(address_file);
  std::string address;
  if (!std::getline(file, address) || address.empty()) {
    return MakeError(ErrorCode::kUnavailable,
                     "no server has written its address to " + address_file + "; start one with: espalier up");
  }
  return address;
}

}  // namespace espalier
