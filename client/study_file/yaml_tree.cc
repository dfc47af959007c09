#include "client/study_file/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>

#include "base/text.h"

namespace espalier {
namespace {

// Builds the tree from the parser's events. Throws YAML::ParserException for what is not used here, as the parser does.
class TreeBuilder : public YAML::EventHandler {
 public:
  YamlNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { Add(YamlNode::Kind::kNull, mark, anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw YAML::ParserException(mark, "aliases are not used here; expected the value itself");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!IsValidText(value)) {
      throw YAML::ParserException(mark, "text that is not UTF-8, or has a zero byte; expected a file saved as UTF-8");
    }
    if (ExpectsKey()) {
      open_.back()->entries.push_back(YamlEntry{.key = value, .line = mark.line + 1, .value = {}});
      has_key_ = true;
      return;
    }
    YamlNode& node = Add(YamlNode::Kind::kScalar, mark, anchor);
    node.text = value;
    node.quoted = tag == "!";
    // The parser reports a plain `~` or `null` as text.
    if (!node.quoted && (value.empty() || value == "~" || value == "null")) node.kind = YamlNode::Kind::kNull;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open_.push_back(&Add(YamlNode::Kind::kList, mark, anchor));
    has_key_ = false;
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open_.push_back(&Add(YamlNode::Kind::kMapping, mark, anchor));
    has_key_ = false;
  }
  void OnMapEnd() override { Close(); }

 private:
  bool ExpectsKey() const { return !open_.empty() && open_.back()->kind == YamlNode::Kind::kMapping && !has_key_; }

  YamlNode& Add(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) throw YAML::ParserException(mark, "anchors are not used here; expected a plain value");
    if (ExpectsKey()) throw YAML::ParserException(mark, "a key that is no text; expected `name: value`");
    YamlNode node{.kind = kind, .line = mark.line + 1, .text = {}, .quoted = false, .items = {}, .entries = {}};
    if (open_.empty()) {
      root_ = std::move(node);
      return root_;
    }
    YamlNode& parent = *open_.back();
    if (parent.kind == YamlNode::Kind::kList) return parent.items.emplace_back(std::move(node));
    has_key_ = false;
    parent.entries.back().value = std::move(node);
    return parent.entries.back().value;
  }

  void Close() {
    open_.pop_back();
    has_key_ = false;
  }

  YamlNode root_;
  std::vector<YamlNode*> open_;  // nothing is added to a parent of the last one, so these stay where they are
  bool has_key_ = false;         // of the innermost mapping: its last entry waits for its value
};

}  // namespace

const YamlNode* YamlNode::Find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

tl::expected<YamlNode, YamlError> ParseYaml(const std::string& text) {
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    TreeBuilder builder;
    parser.HandleNextDocument(builder);
    TreeBuilder second;
    if (parser.HandleNextDocument(second)) {
      return tl::unexpected(YamlError{.line = second.TakeRoot().line, .message = "a second document; expected one"});
    }
    return builder.TakeRoot();
  } catch (const YAML::Exception& error) {
    return tl::unexpected(YamlError{.line = error.mark.is_null() ? 1 : error.mark.line + 1, .message = error.msg});
  }
}

}  // namespace espalier
