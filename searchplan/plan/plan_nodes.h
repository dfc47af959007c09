// A plan's nodes by id, in little memory (a plan may have millions): sorted in blocks, found by binary search; and by
// lineage digest, since a batch of trials must not read all children of a node. Invariant: ids are in order and unique;
// every node is listed under its lineage. References stay valid while nodes are added in order of id, as a plan's are.
#pragma once

#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "searchplan/plan/plan_node.h"

namespace espalier {

// Where a node is, by the digest of its lineage: a hash table with open addressing.
class LineageIndex {
 public:
  void Add(const Digest128& lineage, PlanNodeId node);
  // The nodes that may have this lineage: call with `next` 0, then with what was left there. PlanNodeId{0}: no more.
  PlanNodeId Next(const Digest128& lineage, std::size_t& next) const;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    PlanNodeId node;  // 0: free
  };
  static std::uint64_t HashOf(const Digest128& lineage);
  void Place(Slot slot);

  std::vector<Slot> slots_;  // a power of two, at most three quarters full
  std::size_t count_ = 0;
};

class PlanNodes {
 public:
  using key_type = PlanNodeId;
  using Entry = std::pair<PlanNodeId, PlanNode>;

  template <class Blocks, class Value>
  class Cursor {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = Value*;
    using reference = Value&;

    Cursor() = default;
    Cursor(Blocks& blocks, std::size_t block, std::size_t offset) : blocks_(&blocks), block_(block), offset_(offset) {}

    Value& operator*() const { return (*blocks_)[block_][offset_]; }
    Value* operator->() const { return &**this; }
    Cursor& operator++() {
      if (++offset_ == (*blocks_)[block_].size()) {
        ++block_;
        offset_ = 0;
      }
      return *this;
    }
    Cursor operator++(int) {
      Cursor before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Cursor&, const Cursor&) = default;

   private:
    Blocks* blocks_ = nullptr;
    std::size_t block_ = 0;
    std::size_t offset_ = 0;
  };

  using Blocks = std::vector<std::vector<Entry>>;
  using iterator = Cursor<Blocks, Entry>;
  using const_iterator = Cursor<const Blocks, const Entry>;

  iterator begin() { return {blocks_, 0, 0}; }
  iterator end() { return {blocks_, blocks_.size(), 0}; }
  const_iterator begin() const { return {blocks_, 0, 0}; }
  const_iterator end() const { return {blocks_, blocks_.size(), 0}; }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  iterator find(PlanNodeId id);
  const_iterator find(PlanNodeId id) const;
  bool contains(PlanNodeId id) const { return find(id) != end(); }
  const PlanNode& at(PlanNodeId id) const;  // REQUIRES: it exists
  PlanNode& at(PlanNodeId id);

  // False, and nothing is done, if there is a node of that id. Quick for an id above all others.
  bool Add(PlanNode node);

  // The node that this digest is the lineage of; null if there is none.
  const PlanNode* FindLineage(const Digest128& lineage) const;

  friend bool operator==(const PlanNodes& a, const PlanNodes& b) { return SameNodes(a, b); }

 private:
  // Where the id is, or where it would be inserted.
  std::pair<std::size_t, std::size_t> PlaceOf(PlanNodeId id) const;
  static bool SameNodes(const PlanNodes& a, const PlanNodes& b);
  void Insert(std::size_t block, std::size_t offset, PlanNode node);

  Blocks blocks_;  // none is empty
  std::size_t size_ = 0;
  LineageIndex lineages_;
};

}  // namespace espalier
