// SPDX-License-Identifier: Apache-2.0
#include "experiment/yaml_reader.hpp"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>

namespace ringmaster::experiment {
namespace {

constexpr std::size_t deepest = 24;
constexpr std::size_t most_nodes = 20000;
const char* const broken_hint = "look for brackets, quotes and indentation here and in the line above";

/// Ends the reading.
struct Refused {
  Complaint complaint;
};

/// Length of the UTF-8 character at `at`; 0 if there is none.
std::size_t character_length(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : '\0'); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : (first & 0xF0) == 0xE0         ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(at + 1) < 0xA0) || (first == 0xF0 && byte(at + 1) < 0x90);
  const bool outside = (first == 0xED && byte(at + 1) > 0x9F) || (first == 0xF4 && byte(at + 1) > 0x8F);
  return overlong || outside ? 0 : length;
}

void require_clean_text(const std::string& text, const std::string& file) {
  if (text.size() > largest_yaml_bytes) {
    throw Refused{{{file, 0, 0},
                   fmt::format("the file is larger than {} KiB", largest_yaml_bytes >> 10),
                   "a config is smaller: data stands in files of its own (data.path)"}};
  }
  Place place{file, 1, 1};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    if (length == 0) throw Refused{{place, "a byte that is not UTF-8", "save the file as UTF-8"}};
    if (text[at] == '\0') throw Refused{{place, "a zero byte", "is this a text file?"}};
    ++place.column;
    if (text[at] == '\n') place = {file, place.line + 1, 1};
    at += length;
  }
}

class Builder : public YAML::EventHandler {
 public:
  Builder(std::string file, std::vector<Complaint>& complaints) : file_(std::move(file)), complaints_(complaints) {}

  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) refuse(mark, "a second document", "a config is one document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    require_plain(mark, "?", anchor);
    add(Node{NodeKind::null, place(mark), {}, {}, {}});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "an alias", "write the value out: anchors and aliases are not supported");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    require_plain(mark, tag, anchor);
    add(Node{NodeKind::scalar, place(mark), value, {}, {}});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    require_plain(mark, tag, anchor);
    open(Node{NodeKind::list, place(mark), {}, {}, {}});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    require_plain(mark, tag, anchor);
    open(Node{NodeKind::map, place(mark), {}, {}, {}});
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    std::optional<NodeEntry> entry;  // a map's key that waits for its value
    bool dropped = false;            // the key was there before
  };

  Place place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& text, const std::string& hint) const {
    throw Refused{{place(mark), text, hint}};
  }

  void require_plain(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
    if (anchor != 0) refuse(mark, "an anchor", "write the value out: anchors and aliases are not supported");
    if (!tag.empty() && tag != "?" && tag != "!") refuse(mark, "a tag", "tags are not supported");
  }

  void open(Node node) {
    if (stack_.size() >= deepest)
      throw Refused{{node.place, fmt::format("nested deeper than {}", deepest), "is a bracket not closed?"}};
    if (!stack_.empty() && stack_.back().node.kind == NodeKind::map && !stack_.back().entry) {
      throw Refused{{node.place, "broken YAML: a bracket that is not closed, or a list or map for a key", broken_hint}};
    }
    stack_.push_back({std::move(node), std::nullopt, false});
  }

  void close() {
    Node node = std::move(stack_.back().node);
    stack_.pop_back();
    add(std::move(node));
  }

  void add(Node node) {
    if (++nodes_ > most_nodes)
      throw Refused{{node.place, fmt::format("more than {} values", most_nodes), "split it over several configs"}};
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& top = stack_.back();
    if (top.node.kind == NodeKind::list) {
      top.node.items.push_back(std::move(node));
    } else if (!top.entry) {
      begin_entry(top, std::move(node));
    } else {
      if (node.kind == NodeKind::null) node.place = top.entry->key_place;  // its own is the next word's
      top.entry->value = std::move(node);
      if (!top.dropped) top.node.entries.push_back(std::move(*top.entry));
      top.entry.reset();
    }
  }

  void begin_entry(Open& top, Node key) {
    if (key.kind != NodeKind::scalar) throw Refused{{key.place, "broken YAML: a key is missing", broken_hint}};
    const auto same = [&](const NodeEntry& entry) { return entry.key == key.text; };
    const auto before = std::find_if(top.node.entries.begin(), top.node.entries.end(), same);
    top.dropped = before != top.node.entries.end();
    if (top.dropped) {
      complaints_.push_back({key.place, fmt::format("key '{}' stands twice", key.text),
                             fmt::format("first in line {}", before->key_place.line)});
    }
    top.entry = NodeEntry{key.text, key.place, {}};
  }

  std::string file_;
  std::vector<Complaint>& complaints_;
  std::vector<Open> stack_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
  Node root_;
};

}  // namespace

const Node* Node::find(const std::string& key) const {
  for (const NodeEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Node* Node::find(const std::string& key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

void Node::set(const std::string& key, const Place& key_place, Node value) {
  for (NodeEntry& entry : entries) {
    if (entry.key != key) continue;
    entry.key_place = key_place;
    entry.value = std::move(value);
    return;
  }
  entries.push_back({key, key_place, std::move(value)});
}

Node read_yaml(const std::string& text, const std::string& file, std::vector<Complaint>& complaints) {
  try {
    require_clean_text(text, file);
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Builder builder(file, complaints);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take();
  } catch (const Refused& refused) {
    complaints.push_back(refused.complaint);
  } catch (const YAML::Exception& error) {
    Place place{file, 0, 0};
    if (!error.mark.is_null()) place = {file, error.mark.line + 1, error.mark.column + 1};
    complaints.push_back({place, "broken YAML: " + error.msg, broken_hint});
  }
  return {};
}

std::string kind_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::null: return "nothing";
    case NodeKind::scalar: return "a word";
    case NodeKind::list: return "a list";
    case NodeKind::map: return "a map";
  }
  return "?";
}

void merge(Node& base, const Node& over) {
  if (base.kind != NodeKind::map || over.kind != NodeKind::map) {
    base = over;
    return;
  }
  for (const NodeEntry& entry : over.entries) {
    Node* there = base.find(entry.key);
    if (there == nullptr || there->kind != NodeKind::map) {
      base.set(entry.key, entry.key_place, entry.value);
    } else {
      merge(*there, entry.value);
    }
  }
}

std::string yaml_scalar(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '/' || c == '+' || c == '-';
  };
  const bool starts_well = !text.empty() && text.front() != '-' && text.front() != '.';
  const bool is_null = text == "null" || text == "Null" || text == "NULL";
  const bool is_negative = text.size() > 1 && text.front() == '-' && text[1] >= '0' && text[1] <= '9';
  if ((starts_well || is_negative) && !is_null && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace ringmaster::experiment
