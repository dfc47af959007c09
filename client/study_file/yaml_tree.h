// A YAML document as a plain tree that remembers its lines; yaml-cpp stays in this header's .cc.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace espalier {

struct YamlEntry;

// Keys keep the order in which they are written, repeated ones too.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMapping };
  Kind kind = Kind::kNull;
  int line = 1;         // from 1
  std::string text;     // of a scalar
  bool quoted = false;  // a scalar in quotes, or a block of text
  std::vector<YamlNode> items;
  std::vector<YamlEntry> entries;

  // The value of the first entry of that key; null if there is none.
  const YamlNode* Find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  int line = 1;  // of the key
  YamlNode value;
};

struct YamlError {
  int line = 1;
  std::string message;
};

// Reads exactly one document, whose texts are then valid (base/text.h). Error: what is not YAML or not UTF-8, or is not
// used here (anchors, keys that are no text).
tl::expected<YamlNode, YamlError> ParseYaml(const std::string& text);

}  // namespace espalier
