#include "worker/trainer/data/augmentation.h"

#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <span>

#include "worker/trainer/models/values.h"

namespace espalier::trainer {
namespace {

struct ImageShape {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t size() const { return channels * height * width; }
};

// What is drawn for each image, of use or not.
struct Chance {
  std::int64_t down = 0;  // what is seen begins so many pixels further down and to the right, -crop to crop
  std::int64_t right = 0;
  bool is_mirrored = false;
  std::int64_t hole_row = 0;  // the middle of the hole
  std::int64_t hole_column = 0;
};

// Of `length` pixels nothing is seen from that far.
std::int64_t DrawShift(Draws& draws, std::int64_t crop, std::int64_t length) {
  const auto bound = static_cast<std::uint64_t>(crop);
  return std::clamp(static_cast<std::int64_t>(draws.NextBelow(2 * bound + 1) - bound), -length, length);
}

Chance Draw(Draws draws, const ImageShape& shape, std::int64_t crop) {
  Chance chance;
  chance.down = DrawShift(draws, crop, shape.height);
  chance.right = DrawShift(draws, crop, shape.width);
  chance.is_mirrored = draws.NextBelow(2) == 1;
  chance.hole_row = static_cast<std::int64_t>(draws.NextBelow(static_cast<std::uint64_t>(shape.height)));
  chance.hole_column = static_cast<std::int64_t>(draws.NextBelow(static_cast<std::uint64_t>(shape.width)));
  return chance;
}

// What is seen of a row from `right` pixels further to the right. `row` is as long as `to`.
void MoveRow(const float* row, std::int64_t right, std::span<float> to) {
  const auto width = static_cast<std::int64_t>(to.size());
  const std::int64_t begin = std::max<std::int64_t>(-right, 0);
  const std::int64_t end = std::min(width - right, width);
  std::fill(to.begin(), to.begin() + begin, 0.0F);
  if (begin < end) std::copy(row + begin + right, row + end + right, to.begin() + begin);
  std::fill(to.begin() + std::max(begin, end), to.end(), 0.0F);
}

// Where a hole of that side lies along an axis of `length` pixels: around `centre`, as far as the image reaches.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
Span HoleAround(std::int64_t centre, std::int64_t side, std::int64_t length) {
  const std::int64_t begin = centre - side / 2;
  return {std::max<std::int64_t>(begin, 0), std::min(begin + side, length)};
}

void Change(const float* image, const ImageShape& shape, const Augmentation& augmentation, const Chance& chance,
            float* changed) {
  const Span high = HoleAround(chance.hole_row, augmentation.cutout, shape.height);
  const Span wide = HoleAround(chance.hole_column, augmentation.cutout, shape.width);
  for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
    for (std::int64_t y = 0; y < shape.height; ++y, changed += shape.width) {
      const std::span<float> row(changed, static_cast<std::size_t>(shape.width));
      const std::int64_t from = y + chance.down;
      if (from < 0 || from >= shape.height) {
        std::ranges::fill(row, 0.0F);
        continue;
      }
      MoveRow(image + (channel * shape.height + from) * shape.width, chance.right, row);
      if (augmentation.flip && chance.is_mirrored) std::ranges::reverse(row);
      if (y >= high.begin && y < high.end) std::fill(row.begin() + wide.begin, row.begin() + wide.end, 0.0F);
    }
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

at::Tensor Augmented(const at::Tensor& images, const Augmentation& augmentation, const SamplePlace& first) {
  const auto& [crop, flip, cutout] = augmentation;
  if (crop == 0 && !flip && cutout == 0) return images;
  const ImageShape shape{images.size(1), images.size(2), images.size(3)};
  at::Tensor changed = at::empty_like(images);
  for (std::int64_t i = 0; i < images.size(0); ++i) {
    const Draws draws = DrawsOfSample({first.seed, first.epoch, first.position + i});
    Change(images.data_ptr<float>() + i * shape.size(), shape, augmentation, Draw(draws, shape, crop),
           changed.data_ptr<float>() + i * shape.size());
  }
  return changed;
}

}  // namespace espalier::trainer
