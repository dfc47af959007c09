// Study files, and the definitions that a service keeps of them: what is read can be defined, and its definition read.
#include "client/study_file/study_file.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  const std::string text(fuzz::TextOf(data, size));
  static_cast<void>(ParseDefinition(text));
  const auto file = ParseStudyFile("study.yaml", text);
  if (!file.has_value()) return 0;
  const std::string definition = DefinitionOf(*file);
  const Result<StudyFile> again = ParseDefinition(definition);
  ESPALIER_CHECK(again.has_value()) << definition << ": " << again.error().message;
  ESPALIER_CHECK(DefinitionOf(*again) == definition) << definition;
  return 0;
}
