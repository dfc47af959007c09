// The limits of the master's front door, each with its reason. What is over one is refused with kResourceExhausted, and
// told the limit. Those that clients keep to as well are kRequestBytesMax (proto/channel.h) and kBatchSegmentsMax
// (searchplan/sequence/joint_segment_count.h).
#pragma once

#include <cstddef>

#include "proto/channel.h"

namespace espalier::master {

// Messages and texts within one request, at every depth: what it takes in memory, whatever its bytes. The forecast that
// sets kRequestBytesMax has 1.6 million; as many empty trials take 300 MB.
inline constexpr std::size_t kRequestPartsMax = 2'000'000;

// One message of any kind, for gRPC itself, which refuses in words of its own: kRequestBytesMax comes first for
// requests, and a node manager's report of a server's runs is far below.
inline constexpr int kGrpcMessageBytesMax = 2 * kRequestBytesMax;

// What a call says of itself before its body: its method and its token, some hundred bytes.
inline constexpr int kMetadataBytesMax = 8 << 10;

// Streams of events that one user has open at once. Each holds some memory, and a call of its connection; a program
// holds one for all its studies, or one for each.
inline constexpr int kWatchesPerUserMax = 256;

// Studies that one stream watches at once. Each holds no more than the events that wait for it, which it shares with
// others that watch the study.
inline constexpr std::size_t kStudiesPerStreamMax = 4'096;

// Studies that one tuner host carries on at once, and those that it may leave out as it looks for more.
inline constexpr int kWatchesPerTunerHostMax = 400;
inline constexpr int kExceptStudiesMax = 10'000;

// Node managers that one user's token connects at once. Each holds two threads, and is a server.
inline constexpr int kNodesPerUserMax = 1'024;

// Calls at once on one connection: above the watches of a user, lest his other calls wait behind them for ever. More
// wait on the caller's side.
inline constexpr int kCallsPerConnectionMax = 512;

// Calls that are served at once, each on a thread of its own, but for streams of events; more are refused, and no
// thread is made for them.
inline constexpr int kThreadsMax = 4'096;

// What gRPC itself holds of requests that are on their way, all connections together. Where it comes near, it takes in
// less at a time, and then ends streams. Ten of the largest requests at once fit.
inline constexpr std::size_t kBufferBytesMax = 10 * kRequestBytesMax;

}  // namespace espalier::master
