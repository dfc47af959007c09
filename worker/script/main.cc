// espalier-script: the worker for users' programs that can only be started.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/log.h"
#include "worker/process/worker_family.h"
#include "worker/process/worker_launch.h"
#include "worker/script/archive.h"
#include "worker/script/command_line.h"
#include "worker/script/device.h"
#include "worker/script/session.h"

namespace {

namespace fs = std::filesystem;
using espalier::Result;
using espalier::script::CommandLine;
using espalier::script::ProgramPlace;
using espalier::script::Training;

// Dies with its parent. A parent that is gone before this line closed the socket, which the session notices.
bool FollowParent() {
  const pid_t parent = getppid();
  return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

std::string Environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

// Of what this process starts: within its own family.
std::string Mark() {
  const std::string own = Environment(espalier::worker::kFamilyVariable);
  return (own.empty() ? "espalier-script" : own) + "#program-" + std::to_string(getpid());
}

int Refuse(const espalier::Error& error) {
  std::cerr << (error.field.empty() ? "" : error.field + ": ") << error.message << std::endl;
  return error.code == espalier::ErrorCode::kInvalidArgument ? 2 : 1;
}

Result<ProgramPlace> PlaceOf(const CommandLine& line) {
  ProgramPlace place{.file = fs::absolute(line.file), .python = line.python, .mark = Mark()};
  if (!line.archive.empty()) {
    ESPALIER_ASSIGN(const fs::path folder, espalier::script::Unpack(line.archive, line.file, line.folder, line.data));
    place.file = folder / line.file;
  }
  if (place.python.find('/') != std::string::npos) place.python = fs::absolute(place.python);
  for (const std::string& name : line.environment) place.environment[name] = Environment(name);
  return place;
}

// For what nobody else sees, of this process alone.
fs::path ScratchPath() {
  const fs::path given = Environment(espalier::worker::kTemporaryVariable);
  return (given.empty() ? fs::temp_directory_path() : given) / ("espalier-script-" + std::to_string(getpid()));
}

Result<void> Serve(const CommandLine& line, const ProgramPlace& place) {
  Training::Program program{.place = place, .declaration = {}, .offer = {}, .scratch = {}};
  ESPALIER_ASSIGN(program.declaration, espalier::script::AskProgram(place));
  ESPALIER_ASSIGN(program.offer, espalier::script::OfferOf(place, program.declaration));
  if (line.is_check) return {};
  const espalier::script::ScratchFolder scratch(ScratchPath());
  program.scratch = scratch.path();
  const int thread_count = std::max(1, std::atoi(Environment("ESPALIER_THREADS").c_str()));
  const std::string kind =
      espalier::script::DeviceKind(Environment("CUDA_VISIBLE_DEVICES"), thread_count, program.declaration.device);
  return espalier::script::ServeSession(line.fd, program, kind);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const auto line = espalier::script::ParseCommandLine({arguments + 1, arguments + argument_count});
  if (!line.has_value()) {
    Refuse(line.error());
    std::cerr
        << "usage: espalier-script FILE [--python PROGRAM] --fd N\n"
        << "N is a connected socket that speaks the trainer protocol; FILE, a program that can only be started.\n";
    return 2;
  }
  if (line->fd >= 0) {
    if (!FollowParent()) return 1;
    for (const int each : {SIGTERM, SIGINT, SIGPIPE}) signal(each, SIG_IGN);
  }
  const Result<ProgramPlace> place = PlaceOf(*line);
  if (!place.has_value()) return Refuse(place.error());
  const Result<void> done = line->pack.empty() ? Serve(*line, *place) : espalier::script::Pack(*place, line->pack);
  return done.has_value() ? 0 : Refuse(done.error());
}
