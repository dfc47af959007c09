// Request ids: a mutation that comes again with the same content is answered the same again.
#pragma once

#include <optional>
#include <string>

#include "base/key_text.h"
#include "base/text.h"
#include "master/core/draft.h"
#include "master/core/state/stored_text.h"

namespace espalier::master {

inline Result<void> CheckRequestId(const std::string& request_id) {
  if (!request_id.empty() && request_id.size() <= kRequestIdBytesMax && IsValidText(request_id)) return {};
  return MakeError(ErrorCode::kInvalidArgument, "a request id has 1 to 100 bytes, UTF-8 without zero bytes",
                   "request_id");
}

// Nothing if the request is new. Error: kAlreadyExists when it came before with other content.
inline Result<std::optional<AnsweredRequest>> FindAnswer(const MasterState& state, const RequestKey& key,
                                                         const Digest128& content) {
  const auto it = state.requests.find(key);
  if (it == state.requests.end()) return std::optional<AnsweredRequest>();
  if (it->second.content != content) {
    return MakeError(ErrorCode::kAlreadyExists, "request '" + key.second + "' came before with other content",
                     "request_id");
  }
  return std::optional(it->second);
}

template <class T>
void Answer(Draft& draft, CallId call, Result<T> result) {
  if (result.has_value()) {
    draft.Emit(Reply{call, std::move(*result)});
  } else {
    draft.Emit(Reply{call, std::move(result.error())});
  }
}

}  // namespace espalier::master
