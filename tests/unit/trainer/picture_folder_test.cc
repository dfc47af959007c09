#include "worker/trainer/data/picture_folder.h"

#include <png.h>
#include <turbojpeg.h>

#include <catch2/catch.hpp>

#include "tests/unit/trainer/data_folder.h"
#include "worker/trainer/data/batches.h"
#include "worker/trainer/data/decode_picture.h"

namespace espalier::trainer {
namespace {

using test::DataFolder;
// LibTorch's headers take CHECK away: here is REQUIRE alone.

using Pixels = std::vector<std::uint8_t>;

std::string Png(int width, int height, const Pixels& pixels, png_uint_32 format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = format;
  std::string bytes(10'000, '\0');
  png_alloc_size_t size = bytes.size();
  REQUIRE(png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr) != 0);
  bytes.resize(size);
  return bytes;
}

// All of one colour.
std::string PlainPng(int width, int height, std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  Pixels pixels;
  for (int i = 0; i < width * height; ++i) pixels.insert(pixels.end(), {red, green, blue});
  return Png(width, height, pixels, PNG_FORMAT_RGB);
}

std::string GreyJpeg(int side, std::uint8_t grey) {
  const Pixels pixels(static_cast<std::size_t>(side * side), grey);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  tjhandle compressor = tjInitCompress();
  REQUIRE(tjCompress2(compressor, pixels.data(), side, 0, side, TJPF_GRAY, &bytes, &size, TJSAMP_GRAY, 90, 0) == 0);
  std::string jpeg(reinterpret_cast<const char*>(bytes), size);
  tjFree(bytes);
  tjDestroy(compressor);
  return jpeg;
}

// Two classes of 4 x 2 pixels.
void WritePictures(const DataFolder& folder) {
  folder.Write("train/red/1.png", PlainPng(4, 2, 200, 0, 0));
  folder.Write("train/blue/1.png", PlainPng(4, 2, 0, 0, 200));
  folder.Write("train/blue/notes.txt", "no picture");
  folder.Write("test/red/7.png", PlainPng(4, 2, 200, 0, 0));
}

}  // namespace

TEST_CASE("a picture is decoded to its colours, whatever its file keeps", "[torch]") {
  const Picture rgb = DecodePicture(Png(2, 1, {1, 2, 3, 250, 251, 252}, PNG_FORMAT_RGB)).value();
  REQUIRE(rgb.width == 2);
  REQUIRE(rgb.height == 1);
  REQUIRE(rgb.pixels == Pixels{1, 2, 3, 250, 251, 252});
  REQUIRE(DecodePicture(Png(1, 1, {77}, PNG_FORMAT_GRAY)).value().pixels == Pixels{77, 77, 77});
  // What cannot be seen is black.
  REQUIRE(DecodePicture(Png(2, 1, {9, 8, 7, 0, 9, 8, 7, 255}, PNG_FORMAT_RGBA)).value().pixels ==
          Pixels{0, 0, 0, 9, 8, 7});
  const Picture jpeg = DecodePicture(GreyJpeg(8, 100)).value();
  REQUIRE(jpeg.width == 8);
  for (const std::uint8_t color : jpeg.pixels) REQUIRE(std::abs(color - 100) <= 1);
}

TEST_CASE("what is no picture, or no whole one, is refused", "[torch]") {
  const auto why = [](const std::string& bytes) {
    const Result<Picture> picture = DecodePicture(bytes);
    REQUIRE_FALSE(picture.has_value());
    return picture.error().message;
  };
  REQUIRE_THAT(why("GIF89a"), Catch::Contains("neither PNG nor JPEG"));
  REQUIRE_THAT(why(""), Catch::Contains("neither PNG nor JPEG"));
  const std::string png = PlainPng(4, 2, 1, 2, 3);
  const std::string jpeg = GreyJpeg(64, 100);
  for (const std::string& bytes : {png, jpeg}) {
    for (const std::size_t size : {std::size_t{9}, bytes.size() / 2, bytes.size() - 20}) {
      INFO(size);
      REQUIRE_THAT(why(bytes.substr(0, size)), Catch::StartsWith("it cannot be decoded"));
    }
  }
  std::string huge = png;  // its width says 2^24 pixels
  huge[17] = 1;
  REQUIRE_FALSE(DecodePicture(huge).has_value());
}

TEST_CASE("folders of pictures are classes, in the order of their names", "[torch]") {
  const DataFolder folder;
  WritePictures(folder);
  const DataSource source = folder.Found();
  REQUIRE(source.kind == DataKind::kImages);
  const auto batches = source.open(1);
  REQUIRE(batches->form().input_shape == std::vector<std::int64_t>{3, 2, 4});
  REQUIRE(batches->form().class_count == 2);
  const Batch batch = batches->Next(9);
  for (std::int64_t i = 0; i < 2; ++i) {
    const bool is_blue = batch.inputs[i][2][1][3].item<float>() > 0;
    REQUIRE(batch.labels[i].item<std::int64_t>() == (is_blue ? 0 : 1));
  }
  batches->Validate([](const Batch& validated) { REQUIRE(validated.labels[0].item<std::int64_t>() == 1); });
}

TEST_CASE("a folder of pictures is known by its content and by the classes' names", "[torch]") {
  const DataFolder folder;
  WritePictures(folder);
  const std::string before = folder.Found().training_digest;
  std::filesystem::rename(folder.path / "train/blue", folder.path / "train/green");
  REQUIRE(folder.Found().training_digest != before);
  std::filesystem::rename(folder.path / "train/green", folder.path / "train/blue");
  REQUIRE(folder.Found().training_digest == before);
  folder.Write("train/blue/2.png", PlainPng(4, 2, 0, 0, 1));
  REQUIRE(folder.Found().training_digest != before);
}

TEST_CASE("a picture that does not fit the others is refused by name", "[torch]") {
  const auto refused = [](const std::string& name, const std::string& bytes, const std::string& why) {
    const DataFolder folder;
    WritePictures(folder);
    folder.Write(name, bytes);
    INFO(name);
    REQUIRE_THROWS_WITH(folder.Found().open(1), Catch::Contains(name) && Catch::Contains(why));
  };
  refused("train/red/2.png", PlainPng(2, 2, 0, 0, 0), "it has 2 x 2 pixels");
  refused("train/red/2.jpg", "no picture", "neither PNG nor JPEG");
  refused("test/green/1.png", PlainPng(4, 2, 0, 0, 0), "there is no class 'green' for training");
  refused("test/blue/1.jpeg", GreyJpeg(8, 1), "8 x 8 pixels");
}

}  // namespace espalier::trainer
