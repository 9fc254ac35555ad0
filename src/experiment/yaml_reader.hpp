// SPDX-License-Identifier: Apache-2.0
// YAML text to a tree that knows where each word stands. Strict: one document, keys are words and stand once, no
// anchors, aliases or tags. Hostile input is bounded: size, depth, number of nodes; text is UTF-8 without zero bytes.
// Values stay text; who reads them knows their type (so 010 is ten and 1e6 is a number).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace ringmaster::experiment {

enum class NodeKind { null, scalar, list, map };

struct NodeEntry;

struct Node {
  NodeKind kind = NodeKind::null;
  Place place;
  std::string text;                // scalar
  std::vector<Node> items;         // list
  std::vector<NodeEntry> entries;  // map, in the order of the file

  /// The value under a key, or null.
  const Node* find(const std::string& key) const;
  Node* find(const std::string& key);
  /// Sets one key, over what is there.
  void set(const std::string& key, const Place& key_place, Node value);
};

struct NodeEntry {
  std::string key;
  Place key_place;
  Node value;
};

inline constexpr std::size_t largest_yaml_bytes = 256 << 10;

/// The tree of a text. Mistakes that leave a tree (a key twice) are added to `complaints`; those that do not (broken
/// syntax, bounds) end the reading with one complaint and an empty tree.
Node read_yaml(const std::string& text, const std::string& file, std::vector<Complaint>& complaints);

/// "a list", "a map", ...: for complaints.
std::string kind_name(NodeKind kind);

/// Lays `over` on `base`: maps are merged key by key, everything else is replaced.
void merge(Node& base, const Node& over);

/// A word as a YAML scalar, quoted where it has to be.
std::string yaml_scalar(const std::string& text);

}  // namespace ringmaster::experiment
