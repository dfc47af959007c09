#include "worker/trainer/data/decode_picture.h"

#include <png.h>
#include <turbojpeg.h>

#include <memory>
#include <string>

namespace espalier::trainer {
namespace {

constexpr std::string_view kPngMagic("\x89PNG\r\n\x1a\n", 8);
constexpr std::string_view kJpegMagic("\xff\xd8\xff", 3);
constexpr std::size_t kColors = 3;

tl::unexpected<Error> Undecodable(const std::string& why) {
  return MakeError(ErrorCode::kInvalidArgument, "it cannot be decoded: " + why);
}

// All black. Error: there is no such size.
Result<Picture> Blank(std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1 || width > kPictureSideMax || height > kPictureSideMax) {
    return Undecodable("it has " + std::to_string(width) + " x " + std::to_string(height) +
                       " pixels; expected at most 16384 to a side");
  }
  Picture picture{static_cast<int>(width), static_cast<int>(height), {}};
  picture.pixels.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * kColors);
  return picture;
}

struct FreePng {
  void operator()(png_image* image) const { png_image_free(image); }
};
struct DestroyJpeg {
  void operator()(void* handle) const { tjDestroy(handle); }
};

Result<Picture> DecodePng(std::string_view bytes) {
  png_image image{};
  const std::unique_ptr<png_image, FreePng> freed(&image);
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) return Undecodable(image.message);
  ESPALIER_ASSIGN(Picture picture, Blank(image.width, image.height));
  image.format = PNG_FORMAT_RGB;
  if (png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr) == 0 || PNG_IMAGE_FAILED(image)) {
    return Undecodable(image.message);
  }
  return picture;
}

Result<Picture> DecodeJpeg(std::string_view bytes) {
  const std::unique_ptr<void, DestroyJpeg> handle(tjInitDecompress());
  if (handle == nullptr) return Undecodable(tjGetErrorStr2(nullptr));
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto size = static_cast<unsigned long>(bytes.size());
  int width = 0;
  int height = 0;
  int subsampling = 0;
  int color_space = 0;
  if (tjDecompressHeader3(handle.get(), data, size, &width, &height, &subsampling, &color_space) != 0) {
    return Undecodable(tjGetErrorStr2(handle.get()));
  }
  ESPALIER_ASSIGN(Picture picture, Blank(width, height));
  // Warnings, too: a file that ends too early is one.
  if (tjDecompress2(handle.get(), data, size, picture.pixels.data(), width, 0, height, TJPF_RGB, TJFLAG_ACCURATEDCT) !=
      0) {
    return Undecodable(tjGetErrorStr2(handle.get()));
  }
  return picture;
}

}  // namespace

Result<Picture> DecodePicture(std::string_view bytes) {
  if (bytes.starts_with(kPngMagic)) return DecodePng(bytes);
  if (bytes.starts_with(kJpegMagic)) return DecodeJpeg(bytes);
  return Undecodable("it is neither PNG nor JPEG");
}

}  // namespace espalier::trainer
