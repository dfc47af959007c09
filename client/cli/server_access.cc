#include "client/cli/server_access.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <ostream>

#include "base/token.h"

namespace espalier {
namespace {

bool AllDigits(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// The study's id, if the text is one.
std::optional<std::int64_t> IdOf(const std::string& id_or_name) {
  if (!AllDigits(id_or_name)) return std::nullopt;
  std::int64_t id = 0;
  std::from_chars(id_or_name.data(), id_or_name.data() + id_or_name.size(), id);
  return id;
}

// What the server said, with what to do where there is no such study.
Error NamingStudy(const Error& error, const std::string& id_or_name) {
  if (error.code != ErrorCode::kNotFound) return error;
  return {ErrorCode::kNotFound, "no study " + id_or_name + "; see: espalier study list", {}};
}

// Gives `take` the trials of page after page.
Result<void> ReadTrials(Connection& connection, const TrialListing& listing,
                        const std::function<void(v1::Trial&&)>& take) {
  v1::ListTrialsRequest request;
  if (const auto id = IdOf(listing.study)) {
    request.set_study_id(*id);
  } else {
    request.set_study_name(listing.study);
  }
  request.set_order(listing.order);
  for (const std::string& state : listing.states) request.add_states(state);
  std::size_t count = 0;
  do {
    constexpr std::size_t kPage = 1000;
    request.set_page_size(static_cast<std::int32_t>(std::min(kPage, listing.count_max - count)));
    Result<v1::ListTrialsResponse> page = connection.ListTrials(request);
    if (!page.has_value()) return tl::unexpected<Error>(NamingStudy(page.error(), listing.study));
    for (v1::Trial& trial : *page->mutable_trials()) take(std::move(trial));
    count += static_cast<std::size_t>(page->trials_size());
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && count < listing.count_max);
  return {};
}

}  // namespace

Result<Client> ConnectToServer(const CommandContext& context, const RetryPolicy& policy) {
  std::string address = context.server.empty() ? context.usual_server : context.server;
  if (address.empty()) {
    ESPALIER_ASSIGN(address, ReadServerAddress(AddressFile(context.data_directory)));
  }
  if (context.token_file.empty()) return Client::Connect(address, policy, context.token, context.encryption);
  ESPALIER_ASSIGN(const std::string token, ReadTokenFile(context.token_file));
  return Client::Connect(address, policy, token, context.encryption);
}

Result<v1::StudySummary> FindStudy(Connection& connection, const std::string& id_or_name) {
  v1::GetStudyRequest request;
  if (const auto id = IdOf(id_or_name)) {
    request.set_study_id(*id);
  } else {
    request.set_name(id_or_name);
  }
  Result<v1::GetStudyResponse> response = connection.GetStudy(request);
  if (response.has_value()) return response->study();
  return tl::unexpected<Error>(NamingStudy(response.error(), id_or_name));
}

Result<std::vector<v1::Trial>> ListTrialsOf(Connection& connection, const TrialListing& listing) {
  std::vector<v1::Trial> trials;
  ESPALIER_RETURN_IF_ERROR(
      ReadTrials(connection, listing, [&](v1::Trial&& trial) { trials.push_back(std::move(trial)); }));
  return trials;
}

Result<std::vector<std::int64_t>> ListTrialIdsOf(Connection& connection, const std::string& study) {
  std::vector<std::int64_t> ids;
  ESPALIER_RETURN_IF_ERROR(
      ReadTrials(connection, {.study = study}, [&](const v1::Trial& trial) { ids.push_back(trial.trial_id()); }));
  return ids;
}

int FailFile(CommandContext& context, const FileError& error) {
  context.err << Print(error) << '\n';
  return kExitUsage;
}

}  // namespace espalier
