#include "master/core/state/stored_text.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/text.h"
#include "protocol/training_metrics.h"

namespace espalier::master {
namespace {

Result<void> CheckSchema(const Schema& schema) {
  std::set<std::string_view> names;
  for (const HyperParameter& parameter : schema.hyper_parameters) {
    ESPALIER_RETURN_IF_ERROR(CheckName(parameter.name, "hyper_parameters.name"));
    if (!names.insert(parameter.name).second) {
      return MakeError(ErrorCode::kInvalidArgument, "hyper-parameter " + parameter.name + " is declared twice",
                       "hyper_parameters.name");
    }
    if (const auto* text = std::get_if<std::string>(&parameter.default_value)) {
      ESPALIER_RETURN_IF_ERROR(CheckText(*text, kTextBytesMax, "hyper_parameters.default_value"));
    }
  }
  return {};
}

Result<void> CheckOffer(const Offer& offer) {
  ESPALIER_RETURN_IF_ERROR(CheckName(offer.trainer, "trainer"));
  ESPALIER_RETURN_IF_ERROR(CheckName(offer.code_digest, "code_digest"));
  ESPALIER_RETURN_IF_ERROR(CheckText(offer.data, kNameBytesMax, "data"));
  ESPALIER_RETURN_IF_ERROR(CheckName(offer.data_digest, "data_digest"));
  ESPALIER_RETURN_IF_ERROR(CheckName(offer.evaluation_digest, "evaluation_digest"));
  if (offer.evaluation_digest == kStateAlone) {
    return MakeError(ErrorCode::kInvalidArgument, "'" + std::string(kStateAlone) + "' is no digest of an evaluation",
                     "evaluation_digest");
  }
  for (const std::string& metric : offer.metrics) ESPALIER_RETURN_IF_ERROR(CheckName(metric, "metrics"));
  return CheckSchema(offer.schema);
}

}  // namespace

Result<void> CheckName(std::string_view name, std::string_view field) {
  if (!name.empty()) return CheckText(name, kNameBytesMax, field);
  return MakeError(ErrorCode::kInvalidArgument, "expected 1 to " + std::to_string(kNameBytesMax) + " bytes, got none",
                   std::string(field));
}

Result<void> CheckText(std::string_view text, std::size_t bytes_max, std::string_view field) {
  if (text.size() > bytes_max) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "expected at most " + std::to_string(bytes_max) + " bytes, got " + std::to_string(text.size()),
                     std::string(field));
  }
  if (IsValidText(text)) return {};
  return MakeError(ErrorCode::kInvalidArgument, "expected UTF-8 without zero bytes", std::string(field));
}

Result<void> CheckRegistration(const Registration& registration) {
  ESPALIER_RETURN_IF_ERROR(CheckName(registration.server, "server"));
  ESPALIER_RETURN_IF_ERROR(CheckName(registration.incarnation, "incarnation"));
  for (const auto& [offer, device_kind] : registration.offers) {
    ESPALIER_RETURN_IF_ERROR(CheckText(device_kind, kTextBytesMax, "offers.device_kind"));
    if (auto fits = CheckOffer(offer); !fits.has_value()) return InField("offers", fits.error());
  }
  for (const DescribedReference& described : registration.references) {
    for (const auto& [offer, device_kind] : described.offers) {
      ESPALIER_RETURN_IF_ERROR(CheckText(device_kind, kTextBytesMax, "references.offers.device_kind"));
      if (auto fits = CheckOffer(offer); !fits.has_value()) return InField("references.offers", fits.error());
    }
  }
  return {};
}

Result<void> CheckMetrics(const Metrics& metrics) {
  if (metrics.empty()) return MakeError(ErrorCode::kInvalidArgument, "the evaluation returned no metrics");
  for (const auto& [name, value] : metrics) {
    if (auto fits = CheckName(name, "a metric's name"); !fits.has_value()) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "the evaluation returned a metric whose name cannot be stored: " + fits.error().message);
    }
  }
  return {};
}

Result<void> CheckSeries(const MetricSeries& series) {
  const auto& [names, steps, values] = series;
  const auto has_order = [](const auto& each) {
    return std::ranges::adjacent_find(each, std::greater_equal{}) == each.end();
  };
  if (names.empty() || names.size() > kTrainingMetricsMax || !has_order(names)) {
    return MakeError(ErrorCode::kInvalidArgument, "expected 1 to 64 names, sorted, each once", "names");
  }
  for (const std::string& name : names) ESPALIER_RETURN_IF_ERROR(CheckName(name, "names"));
  const bool are_kept = std::ranges::all_of(steps, [](Step step) { return step > Step{0} && IsInSeries(step); });
  if (steps.empty() || steps.size() > kBatchStepsMax || !has_order(steps) || !are_kept) {
    return MakeError(ErrorCode::kInvalidArgument, "expected 1 to 1000 steps, sorted, each once, and such as are kept",
                     "steps");
  }
  if (values.size() == names.size() * steps.size()) return {};
  return MakeError(ErrorCode::kInvalidArgument, "expected one for each step and name", "values");
}

Result<void> CheckStored(const StateStored& stored) {
  ESPALIER_RETURN_IF_ERROR(CheckName(stored.file, "file"));
  ESPALIER_RETURN_IF_ERROR(CheckName(stored.state_sha256, "state_sha256"));
  if (stored.bytes >= 0) return {};
  return MakeError(ErrorCode::kInvalidArgument, "expected a size, got " + std::to_string(stored.bytes), "bytes");
}

}  // namespace espalier::master
