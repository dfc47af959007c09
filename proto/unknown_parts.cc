#include "proto/unknown_parts.h"

#include <google/protobuf/unknown_field_set.h>

#include <vector>

namespace espalier {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::UnknownFieldSet;

enum class Wanted { kValues, kFieldsAndValues };

std::optional<UnknownPart> Find(const Message& message, Wanted wanted);

UnknownPart ValueOf(int number, const FieldDescriptor& field) {
  const std::string& message = field.containing_type()->name();
  return {message + "." + field.name(),
          "the value " + std::to_string(number) + " of " + field.name() + " in a " + message};
}

std::optional<UnknownPart> FindValue(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const EnumDescriptor& known = *field.enum_type();
  const auto check = [&](int number) -> std::optional<UnknownPart> {
    if (known.FindValueByNumber(number) != nullptr) return std::nullopt;
    return ValueOf(number, field);
  };
  if (!field.is_repeated()) return check(reflection.GetEnumValue(message, &field));
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    if (auto unknown = check(reflection.GetRepeatedEnumValue(message, &field, i))) return unknown;
  }
  return std::nullopt;
}

std::optional<UnknownPart> FindWithin(const Message& message, const FieldDescriptor& field, Wanted wanted) {
  const Reflection& reflection = *message.GetReflection();
  if (!field.is_repeated()) return Find(reflection.GetMessage(message, &field), wanted);
  // To go through a map costs its size again in memory: only if there may be something.
  if (field.is_map()) {
    const auto type = field.message_type()->map_value()->cpp_type();
    if (type != FieldDescriptor::CPPTYPE_ENUM && type != FieldDescriptor::CPPTYPE_MESSAGE) return std::nullopt;
  }
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    if (auto unknown = Find(reflection.GetRepeatedMessage(message, &field, i), wanted)) return unknown;
  }
  return std::nullopt;
}

std::optional<UnknownPart> Find(const Message& message, Wanted wanted) {
  const Reflection& reflection = *message.GetReflection();
  const UnknownFieldSet& fields = reflection.GetUnknownFields(message);
  if (wanted == Wanted::kFieldsAndValues && !fields.empty()) {
    const std::string number = std::to_string(fields.field(0).number());
    const std::string& name = message.GetDescriptor()->name();
    return UnknownPart{name + "." + number, "field " + number + " of a " + name};
  }
  std::vector<const FieldDescriptor*> set;
  reflection.ListFields(message, &set);
  for (const FieldDescriptor* field : set) {
    std::optional<UnknownPart> unknown;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) unknown = FindValue(message, *field);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) unknown = FindWithin(message, *field, wanted);
    if (unknown) return unknown;
  }
  return std::nullopt;
}

}  // namespace

std::optional<UnknownPart> FindUnknown(const Message& message) { return Find(message, Wanted::kFieldsAndValues); }
std::optional<UnknownPart> FindUnknownValue(const Message& message) { return Find(message, Wanted::kValues); }

}  // namespace espalier
