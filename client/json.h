// JSON documents as values. Objects keep their members in the order in which they were added: scripts and tests rely on
// the bytes. json.cc alone knows the library that writes them.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "searchplan/sequence/value.h"

namespace espalier {

class Json {
 public:
  struct Member;

  // What a value is in JSON; implicit, so that documents read as what they say.
  Json(std::nullptr_t);
  Json(double value);
  Json(std::string text);
  Json(std::string_view text);
  Json(const char* text);
  template <std::integral Number>  // no pointer is meant for a boolean. REQUIRES: an integer fits into 63 bits
  Json(Number value) : value_(Plain<Number>(value)) {}

  static Json Array(std::vector<Json> elements = {});
  static Json Object(std::initializer_list<Member> members = {});  // REQUIRES: all keys differ

  template <class Range>
  static Json ArrayOf(const Range& range) {
    return Array(std::vector<Json>(range.begin(), range.end()));
  }
  // The members of a map, sorted by their keys.
  template <class Map>
  static Json Sorted(const Map& map) {
    Json object = Object();
    for (const auto& [key, value] : std::map<std::string, Json>(map.begin(), map.end())) object.Add(key, value);
    return object;
  }

  // REQUIRES: an array.
  void Append(Json element);
  // REQUIRES: an object without this key.
  void Add(std::string key, Json value);

 private:
  friend class JsonWriter;
  template <class Number>
  using Plain = std::conditional_t<std::same_as<Number, bool>, bool, std::int64_t>;

  struct Members {  // one of each for every member
    std::vector<std::string> keys;
    std::vector<Json> values;
  };

  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, std::vector<Json>, Members> value_;
};

struct Json::Member {
  std::string key;
  Json value;
};

// A number, true or false, or a text.
Json ToJson(const Value& value);

// Indented, with a line's end. Not-a-number becomes null, bytes that are no UTF-8 the replacement character.
void PrintJson(std::ostream& out, const Json& document);

// The same in one line, without spaces.
std::string CompactJson(const Json& document);

}  // namespace espalier
