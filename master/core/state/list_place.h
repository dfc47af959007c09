// Where an element stands in a list, and the token by which a client asks for what comes after it.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier::master {

// Places compare as the list goes.
template <class Id>
struct ListPlace {
  bool unranked = false;  // in a list by value: it has none, or NaN
  double value = 0;       // in a list by value: the less, the earlier
  Id id;
  friend auto operator<=>(const ListPlace&, const ListPlace&) = default;
};

// "m 12 -0.93", "m 12 -" for what is unranked; `list` names the list that the place is in.
template <class Id>
std::string TokenOf(char list, const ListPlace<Id>& place) {
  const std::string token = std::string(1, list) + " " + std::to_string(place.id.value) + " ";
  if (place.unranked) return token + "-";
  char text[40];
  return token + std::string(text, std::to_chars(text, text + sizeof(text), place.value).ptr);
}

// Back again; nothing for an empty text: the list's beginning. Error: kInvalidArgument in "page_token".
template <class Id>
Result<std::optional<ListPlace<Id>>> PlaceOf(char list, std::string_view token) {
  using Place = std::optional<ListPlace<Id>>;
  if (token.empty()) return Place();
  const tl::unexpected<Error> wrong = MakeError(
      ErrorCode::kInvalidArgument, "expected the token of a page of the same list, got another", "page_token");
  const char* const end = token.data() + token.size();
  if (token.size() < 2 || token[0] != list || token[1] != ' ') return wrong;
  ListPlace<Id> place;
  const auto [after_id, id_error] = std::from_chars(token.data() + 2, end, place.id.value);
  if (id_error != std::errc() || after_id == end || *after_id != ' ') return wrong;
  const std::string_view value(after_id + 1, end);
  place.unranked = value == "-";
  if (place.unranked) return Place(place);
  const auto [after_value, value_error] = std::from_chars(value.data(), end, place.value);
  if (value_error != std::errc() || after_value != end) return wrong;
  return Place(place);
}

}  // namespace espalier::master
