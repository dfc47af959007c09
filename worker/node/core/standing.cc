#include "worker/node/core/standing.h"

namespace espalier::node {

Beginning BeginningOf(const Order& order, const Values& at_init, const Standing& standing) {
  const bool is_same_training =
      standing.offer == DigestOf(order.offer) && standing.step == order.step && standing.at_init == at_init;
  if (!order.start.has_value() || !is_same_training) return Beginning::kInit;
  if (standing.file == order.start->file) return Beginning::kGoOn;
  return standing.reloads ? Beginning::kReload : Beginning::kInit;
}

}  // namespace espalier::node
