#include "client/client.h"

#include <fstream>

#include "client/connection.h"
#include "client/convert.h"
#include "client/request_id.h"

namespace espalier {

Result<Client> Client::Connect(const std::string& address) { return Connect(address, RetryPolicy{}); }

Result<Client> Client::Connect(const std::string& address, const RetryPolicy& policy) {
  ESPALIER_ASSIGN(std::shared_ptr<Connection> connection, Connection::Open(address, policy));
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
    return MakeError(ErrorCode::kUnavailable, "no server has written its address to " + address_file);
  }
  return address;
}

}  // namespace espalier
