#include "worker/trainer/data/augmentation.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/stack.h>

#include <algorithm>

#include "worker/trainer/models/values.h"

namespace espalier::trainer {
namespace {

// So many draws of a whole number from 0 to `bound` - 1.
std::vector<std::int64_t> Draws(std::int64_t count, std::int64_t bound) {
  const at::Tensor draws = at::randint(bound, {count}, at::TensorOptions(at::kLong));
  return {draws.data_ptr<std::int64_t>(), draws.data_ptr<std::int64_t>() + count};
}

std::vector<at::Tensor> Shifted(const std::vector<at::Tensor>& images, std::int64_t crop) {
  const auto count = static_cast<std::int64_t>(images.size());
  const std::vector<std::int64_t> down = Draws(count, 2 * crop + 1);
  const std::vector<std::int64_t> right = Draws(count, 2 * crop + 1);
  std::vector<at::Tensor> shifted;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const at::Tensor padded = at::constant_pad_nd(images[i], {crop, crop, crop, crop});
    shifted.push_back(padded.narrow(1, down[i], images[i].size(1)).narrow(2, right[i], images[i].size(2)));
  }
  return shifted;
}

// Where a hole of that side lies along an axis of `length` pixels: around `centre`, as far as the image reaches.
struct Span {
  std::int64_t begin = 0;
  std::int64_t length = 0;
};
Span HoleAround(std::int64_t centre, std::int64_t side, std::int64_t length) {
  const std::int64_t begin = std::max<std::int64_t>(centre - side / 2, 0);
  return {begin, std::min(centre - side / 2 + side, length) - begin};
}

void BlotOut(at::Tensor& images, std::int64_t side) {
  const std::vector<std::int64_t> rows = Draws(images.size(0), images.size(2));
  const std::vector<std::int64_t> columns = Draws(images.size(0), images.size(3));
  for (std::int64_t i = 0; i < images.size(0); ++i) {
    const Span high = HoleAround(rows[static_cast<std::size_t>(i)], side, images.size(2));
    const Span wide = HoleAround(columns[static_cast<std::size_t>(i)], side, images.size(3));
    images[i].narrow(1, high.begin, high.length).narrow(2, wide.begin, wide.length).zero_();
  }
}

}  // namespace

std::vector<DeclaredHyperParameter> DeclareAugmentation() {
  const Augmentation none;
  return {{.name = "crop", .default_value = none.crop},
          {.name = "cutout", .default_value = none.cutout},
          {.name = "flip", .default_value = none.flip}};
}

void TakeOver(const HyperParameterValues& values, Augmentation& augmentation) {
  TakeOver(values, "crop", augmentation.crop);
  TakeOver(values, "cutout", augmentation.cutout);
  TakeOver(values, "flip", augmentation.flip);
  AtLeast(0, "crop", augmentation.crop);
  AtLeast(0, "cutout", augmentation.cutout);
}

at::Tensor Augmented(const at::Tensor& images, const Augmentation& augmentation) {
  const auto& [crop, flip, cutout] = augmentation;
  if (crop == 0 && !flip && cutout == 0) return images;
  std::vector<at::Tensor> changed = images.unbind();
  if (crop > 0) changed = Shifted(changed, crop);
  if (flip) {
    const std::vector<std::int64_t> is_mirrored = Draws(images.size(0), 2);
    for (std::size_t i = 0; i < changed.size(); ++i) {
      if (is_mirrored[i] == 1) changed[i] = changed[i].flip({2});
    }
  }
  at::Tensor batch = at::stack(changed);
  if (cutout > 0) BlotOut(batch, cutout);
  return batch;
}

}  // namespace espalier::trainer
