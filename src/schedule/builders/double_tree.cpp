// SPDX-License-Identifier: Apache-2.0
// Double tree: two binary trees over half of the vector each, in which every rank is an inner node at most once, so
// that reduction and broadcast load all ranks alike. 2 log2 p steps and up to 2 vectors: for long vectors among many
// ranks, where it is pipelined by segments. (Sanders, Speck and Traeff 2009, *Two-tree algorithms for full bandwidth
// broadcast, reduction and scan*.)
#include "schedule/builders.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

/// A binary tree over the ranks first .. first + count - 1 (count odd) in their order: every inner node has two
/// children, so inner nodes and leaves take turns. Returns its root.
Rank grow(std::vector<Rank>& parent, Rank first, int count) {
  if (count == 1) return first;
  const int left = (count - 1) / 2 | 1;
  const int side = left < count - 1 ? left : left - 2;  // odd, as near to half as can be
  const Rank root = first + side;
  parent[static_cast<std::size_t>(grow(parent, first, side))] = root;
  parent[static_cast<std::size_t>(grow(parent, root + 1, count - 1 - side))] = root;
  parent[static_cast<std::size_t>(root)] = root;
  return root;
}

/// Inner nodes are odd ranks only. With an even count the last rank is a root with one child.
std::vector<Rank> first_tree(int ranks) {
  std::vector<Rank> parent(static_cast<std::size_t>(ranks), 0);
  const Rank root = grow(parent, 0, ranks % 2 == 1 ? ranks : ranks - 1);
  if (ranks % 2 == 0) parent[static_cast<std::size_t>(root)] = parent.back() = ranks - 1;
  return parent;
}

/// In the second tree the inner nodes are even: turned around where the count is even, moved by one where it is odd.
std::vector<Rank> second_order(int ranks) {
  std::vector<Rank> order;
  for (Rank rank = 0; rank < ranks; ++rank) {
    order.push_back(ranks % 2 == 0 ? ranks - 1 - rank : (rank + ranks - 1) % ranks);
  }
  return order;
}

Schedule build(const BuildContext& context) {
  const int ranks = context.ranks;
  if (ranks == 1) return side_by_side("double-tree", 1, {alone()});
  const Lane tree = there_and_back(reduce_along(earliest(first_tree(ranks))));
  const Lane other = relabel(tree, second_order(ranks));
  return side_by_side("double-tree", ranks, {relabel(tree, context.order), relabel(other, context.order)});
}

}  // namespace

const Builder& double_tree_builder() {
  static const Builder builder{"double-tree",
                               "two complementary binary trees, half of the vector each; 2 log2(p) steps",
                               {},
                               [](const BuildContext&) { return Verdict::yes(); },
                               build};
  return builder;
}

}  // namespace ringmaster::schedule
