#include "searchplan/plan/measurement.h"

#include "base/check.h"
#include "base/enum_names.h"

namespace espalier {
namespace {

constexpr EnumName<CostKind> kCostKinds[kCostKindCount] = {{CostKind::kStep, "step"},
                                                           {CostKind::kSetUp, "set_up"},
                                                           {CostKind::kLoad, "load"},
                                                           {CostKind::kSave, "save"},
                                                           {CostKind::kEvaluate, "evaluate"},
                                                           {CostKind::kMemory, "memory"},
                                                           {CostKind::kStateBytes, "state_bytes"},
                                                           {CostKind::kDeviceMemory, "device_memory"},
                                                           {CostKind::kUtilization, "utilization"}};

}  // namespace

std::string_view Name(CostKind kind) { return NameIn(kCostKinds, kind); }

Result<CostKind> ParseCostKind(std::string_view name) { return ParseIn(kCostKinds, name); }

bool IsTime(CostKind kind) {
  switch (kind) {
    case CostKind::kStep:
    case CostKind::kSetUp:
    case CostKind::kLoad:
    case CostKind::kSave:
    case CostKind::kEvaluate:
      return true;
    case CostKind::kMemory:
    case CostKind::kStateBytes:
    case CostKind::kDeviceMemory:
    case CostKind::kUtilization:
      return false;
  }
  return false;
}

Measurement Sum(Measurement known, Measurement more) {
  if (more.count > kMeasuredCountMax - known.count || more.total > kMeasuredTotalMax - known.total) return known;
  return {known.count + more.count, known.total + more.total};
}

double Mean(Measurement measurement) {
  ESPALIER_CHECK(measurement.count > 0) << "nothing measured";
  return static_cast<double>(measurement.total) / static_cast<double>(measurement.count);
}

}  // namespace espalier
