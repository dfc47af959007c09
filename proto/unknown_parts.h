// What a message says that this program's protocol files do not know: a newer program wrote it, and would be
// misunderstood. proto3 keeps such parts and says nothing.
#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <string>

namespace espalier {

struct UnknownPart {
  std::string field;  // "SubmitRequest.17", "StudySpecification.keep"
  std::string text;   // for people: "field 17 of a SubmitRequest", "the value 9 of keep in a StudySpecification"
};

// The first field or enumerator, at any depth, that this program does not know. None: it knows all. O(fields that are
// set).
std::optional<UnknownPart> FindUnknown(const google::protobuf::Message& message);

// The same of enumerators alone: an answer may have new fields, which nobody who does not know them needs.
std::optional<UnknownPart> FindUnknownValue(const google::protobuf::Message& message);

}  // namespace espalier
