// What may be stored. The database refuses text that is not UTF-8 or has a zero byte, and names too long for an index;
// a master whose commit is refused recovers and meets the same again. So nothing of the kind may enter an edit: clients
// and node managers are refused before, and what a fault left in a message is cleaned.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "master/core/event.h"

namespace espalier::master {

// Of names and digests: an index entry, of two of them at most, has room for 2.7 kB.
inline constexpr std::size_t kNameBytesMax = 200;
inline constexpr std::size_t kRequestIdBytesMax = 100;
// Of texts that no index holds.
inline constexpr std::size_t kTextBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kDefinitionBytesMax = std::size_t{16} << 20;
// Of messages of failures.
inline constexpr std::size_t kMessageBytesMax = std::size_t{16} << 10;
// New trials of one batch, claims, closings or cancellations. What trials cost besides is bounded by their joint
// segments (searchplan/sequence/joint_segment_count.h).
inline constexpr std::size_t kBatchCountMax = 20'000;
// Trials that go on from one, in a call.
inline constexpr std::size_t kContinuationCountMax = 1'000;

// Error: kInvalidArgument with the field.
Result<void> CheckName(std::string_view name, std::string_view field);  // 1 to 200 bytes
Result<void> CheckText(std::string_view text, std::size_t bytes_max, std::string_view field);

// Names, digests and schemas. Error: kInvalidArgument with the field.
Result<void> CheckRegistration(const Registration& registration);

// Error: kInvalidArgument. There must be metrics: an evaluation without any would leave no trace in the database.
Result<void> CheckMetrics(const Metrics& metrics);
// One value for each step and name, as many as a batch may have, of steps that are kept.
Result<void> CheckSeries(const MetricSeries& series);
Result<void> CheckStored(const StateStored& stored);

}  // namespace espalier::master
