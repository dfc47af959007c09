#include "client/client.h"

#include <fstream>

#include "base/token.h"
#include "client/connection.h"
#include "client/convert.h"
#include "client/request_id.h"

namespace espalier {

namespace {

// Whoever may enter the folder of `up`'s socket may have what lies beside it. Empty if nothing does.
std::string TokenBesideSocket(const std::string& address) {
  constexpr std::string_view kUnix = "unix:";
  if (!address.starts_with(kUnix)) return {};
  const std::string socket = address.substr(kUnix.size());
  return ReadTokenFile(socket.substr(0, socket.rfind('/') + 1) + "token").value_or("");
}

}  // namespace

Result<Client> Client::Connect(const std::string& address, const std::string& token) {
  return Connect(address, RetryPolicy{}, token);
}

Result<Client> Client::Connect(const std::string& address, const RetryPolicy& policy, const std::string& token) {
  std::string shown;
  if (token.empty()) {
    shown = TokenBesideSocket(address);
  } else {
    ESPALIER_ASSIGN(shown, ParseToken(token));
  }
  ESPALIER_ASSIGN(std::shared_ptr<Connection> connection, Connection::Open(address, policy, shown));
  return Client(std::move(connection));
}

Result<Study> Client::CreateStudy(const StudySpecification& specification) {
  v1::CreateStudyRequest request;
  request.set_request_id(NewRequestId());
  *request.mutable_study() = ToWire(specification);
  ESPALIER_ASSIGN(const v1::CreateStudyResponse response, connection_->CreateStudy(request));
  return Study(connection_, StudyId{response.study_id()}, response.attached());
}

Study Client::OpenStudy(StudyId id) { return Study(connection_, id, true); }

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
