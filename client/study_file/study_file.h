// Study files: what a user writes, read and checked. Every mistake is one error that names its field and line.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/space/sampling.h"
#include "client/space/search_space.h"
#include "client/study_specification.h"
#include "client/trainer_code.h"
#include "client/tuners/tuner.h"
#include "client/tuners/tuner_kind.h"
#include "searchplan/sequence/expression.h"
#include "searchplan/sequence/sequence.h"

namespace espalier {

namespace v1 {
class TrainerDescription;
}

inline constexpr std::size_t kTrialCountMax = 100'000;

// One mistake in a file.
struct FileError {
  std::string file;
  int line = 1;
  std::string field;  // empty: the file as a whole
  std::string message;
};

// "FILE:LINE: FIELD: what is wrong; expected ..."
std::string Print(const FileError& error);

// A value of a hyper-parameter as written, where it stands, and how far it has to hold.
struct WrittenValue {
  std::string field;  // "hyper_parameters.lr[2]"
  std::string name;   // "lr"
  Expression expression;
  std::string text;  // as it is sent
  Step horizon;
};

struct StudyFile {
  std::string path;
  std::optional<TrainerCode> code;  // none: the specification names trainer and data that servers have of their own
  StudySpecification specification;
  std::string tuner;  // its name
  tuners::Options tuner_options;
  SearchSpace space;
  std::optional<Sampling> sampling;           // none: the space's whole grid is tried
  std::vector<tuners::Candidate> candidates;  // the space's, then the explicit ones, in order of submission
  std::size_t from_space = 0;                 // so many of them are the space's
  std::vector<WrittenValue> written;
  std::map<std::string, int> lines;  // of every field in the file
};

// Reads and checks all that can be checked without a server: structure, notation, families and their arguments, tuner.
tl::expected<StudyFile, FileError> ReadStudyFile(const std::string& path);
tl::expected<StudyFile, FileError> ParseStudyFile(const std::string& path, const std::string& text);

// A stored definition, as DefinitionOf made it: the same study, but for its trainer's code. Error: kInvalidArgument
// with the field, where this program knows the file's form, its tuner, or the tuner's version no more.
Result<StudyFile> ParseDefinition(const std::string& text);

// What only a server knows: trainer, data, metric, and the names and types of hyper-parameters. Where the trainer takes
// any, the types of those that it does not declare are taken from the file, and put into the specification.
tl::expected<void, FileError> CheckTrainer(StudyFile& file, const std::vector<v1::TrainerDescription>& trainers);

// For a forecast: as CheckTrainer, but `synthetic` stands for any trainer even where no server has registered it.
tl::expected<void, FileError> CheckForForecast(StudyFile& file, const std::vector<v1::TrainerDescription>& trainers);

// As if the file said so.
void SetCheck(StudyFile& file, CheckWhen when);
void SetReuse(StudyFile& file, const Reuse& reuse);

// An error whose field is one of the file, with its line.
FileError AtField(const StudyFile& file, const Error& error);

// An error that the master found in the study: its fields are those of requests ("trials[3].bs", where trials count as
// submitted).
FileError AtRequestField(const StudyFile& file, const Error& error);

// A fresh tuner over the file's candidates. REQUIRES: the file was read without an error.
std::unique_ptr<tuners::Tuner> MakeTunerOf(const StudyFile& file);

// The whole study as a study file in JSON: equal for files that differ in comments, spelling and the order of keys.
// (The order of the tuned hyper-parameters stays: it is the order of the grid.)
std::string DefinitionOf(const StudyFile& file);

// The sequence of an expression whose type nobody has declared: the first of integer (if only whole numbers are
// written), floating, text and boolean that it has. Error: Compile's, as floating.
Result<Sequence> CompileGuessed(const Expression& expression, Step horizon);

// Of the hyper-parameters in the file that `declared` does not have: the first of integer, floating, text and boolean
// that all their values are of at every step. Error: one that has another type than the first.
Result<ValueTypes> GuessTypes(const StudyFile& file, const Schema& declared);

}  // namespace espalier
