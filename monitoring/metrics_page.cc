#include "monitoring/metrics_page.h"

#include <prometheus/exposer.h>
#include <prometheus/gauge.h>

#include <exception>

#include "base/version.h"

namespace espalier {
namespace {

constexpr std::string_view kLoopback = "127.0.0.1:";

}  // namespace

MetricsPage::MetricsPage(std::unique_ptr<prometheus::Exposer> exposer) : exposer_(std::move(exposer)) {
  prometheus::BuildGauge()
      .Name("espalier_build_info")
      .Help("1, with the program's version")
      .Register(*registry_)
      .Add({{"version", std::string(Version())}})
      .Set(1);
  exposer_->RegisterCollectable(registry_);
}

MetricsPage::~MetricsPage() = default;

Result<std::unique_ptr<MetricsPage>> MetricsPage::Open(const std::string& address) {
  if (!address.starts_with(kLoopback)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "expected a port of this machine, 127.0.0.1:9464, say, got '" + address + "'", "metrics_address");
  }
  try {
    return std::unique_ptr<MetricsPage>(new MetricsPage(std::make_unique<prometheus::Exposer>(address)));
  } catch (const std::exception& error) {
    return MakeError(ErrorCode::kUnavailable, "cannot listen on " + address + ": " + error.what(), "metrics_address");
  }
}

void MetricsPage::Add(const std::weak_ptr<prometheus::Collectable>& collectable) {
  exposer_->RegisterCollectable(collectable);
}

int MetricsPage::port() const { return exposer_->GetListeningPorts().at(0); }

prometheus::MetricFamily GaugeFamily(std::string name, std::string help) {
  return {std::move(name), std::move(help), prometheus::MetricType::Gauge, {}};
}

void AddGauge(prometheus::MetricFamily& family, double value, std::vector<prometheus::ClientMetric::Label> labels) {
  prometheus::ClientMetric& metric = family.metric.emplace_back();
  metric.label = std::move(labels);
  metric.gauge.value = value;
}

}  // namespace espalier
