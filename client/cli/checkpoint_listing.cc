#include "client/cli/checkpoint_listing.h"

#include <algorithm>

#include "client/cli/server_access.h"

namespace espalier {
namespace {

constexpr std::size_t kFilesAtOnce = 10'000;

}  // namespace

Result<std::vector<v1::ListedCheckpoint>> ListCheckpointsOf(Connection& connection, const std::string& study) {
  ESPALIER_ASSIGN(const v1::StudySummary found, FindStudy(connection, study));
  v1::ListCheckpointsRequest request;
  request.set_study_id(found.study_id());
  std::vector<v1::ListedCheckpoint> checkpoints;
  do {
    ESPALIER_ASSIGN(const v1::ListCheckpointsResponse page, connection.ListCheckpoints(request));
    checkpoints.insert(checkpoints.end(), page.checkpoints().begin(), page.checkpoints().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return checkpoints;
}

Result<std::vector<std::string>> FindOrphansAmong(Connection& connection, const std::vector<std::string>& files) {
  std::vector<std::string> orphans;
  for (std::size_t from = 0; from < files.size(); from += kFilesAtOnce) {
    v1::FindOrphansRequest request;
    const std::size_t to = std::min(files.size(), from + kFilesAtOnce);
    for (std::size_t i = from; i < to; ++i) request.add_files(files[i]);
    ESPALIER_ASSIGN(const v1::FindOrphansResponse found, connection.FindOrphans(request));
    orphans.insert(orphans.end(), found.orphans().begin(), found.orphans().end());
  }
  return orphans;
}

}  // namespace espalier
