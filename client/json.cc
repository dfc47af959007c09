#include "client/json.h"

#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

namespace espalier {

Json::Json(std::nullptr_t) : value_(nullptr) {}
Json::Json(double value) : value_(value) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(const char* text) : value_(std::string(text)) {}

Json Json::Array(std::vector<Json> elements) {
  Json array(nullptr);
  array.value_ = std::move(elements);
  return array;
}

Json Json::Object(std::initializer_list<Member> members) {
  Json object(nullptr);
  object.value_ = Members();
  for (const Member& member : members) object.Add(member.key, member.value);
  return object;
}

void Json::Append(Json element) { std::get<std::vector<Json>>(value_).push_back(std::move(element)); }

void Json::Add(std::string key, Json value) {
  auto& members = std::get<Members>(value_);
  members.keys.push_back(std::move(key));
  members.values.push_back(std::move(value));
}

class JsonWriter {
 public:
  using Document = nlohmann::ordered_json;

  // `indent` -1: in one line.
  static std::string Write(const Json& json, int indent) {
    return std::visit(JsonWriter(), json.value_).dump(indent, ' ', false, Document::error_handler_t::replace);
  }

  Document operator()(const std::vector<Json>& elements) const {
    Document array = Document::array();
    for (const Json& element : elements) array.push_back(std::visit(*this, element.value_));
    return array;
  }
  Document operator()(const Json::Members& members) const {
    Document object = Document::object();
    for (std::size_t i = 0; i < members.keys.size(); ++i) {
      object[members.keys[i]] = std::visit(*this, members.values[i].value_);
    }
    return object;
  }
  Document operator()(const auto& plain) const { return plain; }
};

Json ToJson(const Value& value) {
  return std::visit([](const auto& plain) { return Json(plain); }, value);
}

void PrintJson(std::ostream& out, const Json& document) { out << JsonWriter::Write(document, 2) << '\n'; }

std::string CompactJson(const Json& document) { return JsonWriter::Write(document, -1); }

}  // namespace espalier
