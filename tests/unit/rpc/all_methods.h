// Every RPC that there is.
#pragma once

#include <google/protobuf/descriptor.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace espalier::master::testing {

// Of every service that the protocol files declare: "StudyService/Submit".
inline std::set<std::string> AllMethods() {
  std::set<std::string> methods;
  const std::filesystem::path folder = ESPALIER_SOURCE_DIR "/proto/espalier/v1";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(file.path());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (text.find("\nservice ") == std::string::npos) continue;
    const std::string name = "espalier/v1/" + file.path().filename().string();
    INFO(name);
    const auto* descriptor = google::protobuf::DescriptorPool::generated_pool()->FindFileByName(name);
    REQUIRE(descriptor != nullptr);
    for (int i = 0; i < descriptor->service_count(); ++i) {
      const auto* service = descriptor->service(i);
      for (int j = 0; j < service->method_count(); ++j) {
        methods.insert(service->name() + "/" + service->method(j)->name());
      }
    }
  }
  return methods;
}

}  // namespace espalier::master::testing
