#include "searchplan/plan/plan_nodes.h"

#include <algorithm>

#include "base/check.h"

namespace espalier {
namespace {

constexpr std::size_t kBlockSize = 256;
constexpr std::size_t kSlotCountMin = 16;

}  // namespace

std::uint64_t LineageIndex::HashOf(const Digest128& lineage) {
  std::uint64_t hash = 0;
  std::memcpy(&hash, lineage.bytes.data(), sizeof(hash));
  return hash;
}

void LineageIndex::Place(Slot slot) {
  std::size_t at = slot.hash & (slots_.size() - 1);
  while (slots_[at].node != PlanNodeId{0}) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = slot;
}

void LineageIndex::Add(const Digest128& lineage, PlanNodeId node) {
  if (4 * (count_ + 1) > 3 * slots_.size()) {
    std::vector<Slot> before(std::max(kSlotCountMin, 2 * slots_.size()));
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.node != PlanNodeId{0}) Place(slot);
    }
  }
  Place({HashOf(lineage), node});
  ++count_;
}

PlanNodeId LineageIndex::Next(const Digest128& lineage, std::size_t& next) const {
  const std::uint64_t hash = HashOf(lineage);
  while (next < slots_.size()) {
    const Slot& slot = slots_[(hash + next++) & (slots_.size() - 1)];
    if (slot.node == PlanNodeId{0} || slot.hash == hash) return slot.node;
  }
  return PlanNodeId{0};
}

std::pair<std::size_t, std::size_t> PlanNodes::PlaceOf(PlanNodeId id) const {
  if (blocks_.empty() || blocks_.back().back().first < id) return {blocks_.size(), 0};
  // Mostly ids follow each other: then a place is known without looking for it.
  const auto from_first = [&](const std::vector<Entry>& entries) {
    return static_cast<std::size_t>(std::max(std::int64_t{0}, id.value - entries.front().first.value));
  };
  auto block = blocks_.begin() +
               static_cast<std::ptrdiff_t>(std::min(from_first(blocks_.front()) / kBlockSize, blocks_.size() - 1));
  if (id < block->front().first || block->back().first < id) {
    block = std::lower_bound(blocks_.begin(), blocks_.end(), id,
                             [](const auto& each, PlanNodeId wanted) { return each.back().first < wanted; });
  }
  const std::size_t offset = from_first(*block);
  if (offset < block->size() && (*block)[offset].first == id) {
    return {static_cast<std::size_t>(block - blocks_.begin()), offset};
  }
  const auto entry = std::lower_bound(block->begin(), block->end(), id,
                                      [](const Entry& each, PlanNodeId wanted) { return each.first < wanted; });
  return {static_cast<std::size_t>(block - blocks_.begin()), static_cast<std::size_t>(entry - block->begin())};
}

PlanNodes::iterator PlanNodes::find(PlanNodeId id) {
  const auto [block, offset] = PlaceOf(id);
  if (block == blocks_.size() || blocks_[block][offset].first != id) return end();
  return {blocks_, block, offset};
}

PlanNodes::const_iterator PlanNodes::find(PlanNodeId id) const {
  const auto [block, offset] = PlaceOf(id);
  if (block == blocks_.size() || blocks_[block][offset].first != id) return end();
  return {blocks_, block, offset};
}

const PlanNode& PlanNodes::at(PlanNodeId id) const {
  const auto it = find(id);
  ESPALIER_CHECK(it != end()) << "no plan node " << id.value;
  return it->second;
}

PlanNode& PlanNodes::at(PlanNodeId id) {
  const auto it = find(id);
  ESPALIER_CHECK(it != end()) << "no plan node " << id.value;
  return it->second;
}

bool PlanNodes::Add(PlanNode node) {
  const PlanNodeId id = node.id;
  const auto [block, offset] = PlaceOf(id);
  if (block < blocks_.size() && blocks_[block][offset].first == id) return false;
  lineages_.Add(node.lineage, id);
  ++size_;
  Insert(block, offset, std::move(node));
  return true;
}

void PlanNodes::Insert(std::size_t block, std::size_t offset, PlanNode node) {
  const PlanNodeId id = node.id;
  if (block == blocks_.size()) {  // above all others
    if (blocks_.empty() || blocks_.back().size() == kBlockSize) blocks_.emplace_back();
    blocks_.back().reserve(kBlockSize);
    blocks_.back().emplace_back(id, std::move(node));
    return;
  }
  if (blocks_[block].size() == kBlockSize) {
    std::vector<Entry> upper(std::make_move_iterator(blocks_[block].begin() + kBlockSize / 2),
                             std::make_move_iterator(blocks_[block].end()));
    blocks_[block].resize(kBlockSize / 2);
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(block) + 1, std::move(upper));
    if (offset > kBlockSize / 2) {
      ++block;
      offset -= kBlockSize / 2;
    }
  }
  std::vector<Entry>& entries = blocks_[block];
  entries.emplace(entries.begin() + static_cast<std::ptrdiff_t>(offset), id, std::move(node));
}

const PlanNode* PlanNodes::FindLineage(const Digest128& lineage) const {
  std::size_t next = 0;
  while (true) {
    const PlanNodeId id = lineages_.Next(lineage, next);
    if (id == PlanNodeId{0}) return nullptr;
    const PlanNode& node = at(id);
    if (node.lineage == lineage) return &node;
  }
}

bool PlanNodes::SameNodes(const PlanNodes& a, const PlanNodes& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace espalier
