#include "cli/load.h"

#include <cerrno>

#include <sys/stat.h>
#include <cctype>
#include <climits>
#include <unistd.h>

#include <fmt/core.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/safetensors.h"
#include "cli/import_run.h"
#include "ir/text.h"
#include "ops/tensor_data.h"
#include "verify/verify.h"

namespace cairn {

namespace {

bool ends_with(const std::string& text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::string stem_of(const std::string& path) {
  const std::string base = basename_of(path);
  const std::size_t dot = base.find('.');
  const std::string stem = dot == std::string::npos || dot == 0 ? base : base.substr(0, dot);
  if (stem == "graph") {  // DIR/graph.json is named by its directory
    const std::string above = basename_of(dirname_of(path));
    if (!above.empty() && above != "." && above != "/") return above;
  }
  return stem.empty() ? "program" : stem;
}

Result<std::string> read_stdin() {
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = read(0, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR && interrupted() == 0) continue;
    if (n < 0 && errno == EINTR) return Error{Code::interrupted, "interrupted", {}, {}};
    if (n < 0) return Error{Code::io, "standard input cannot be read", {}, {}};
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

Result<Loaded> load_leir(const std::string& path, Reading reading) {
  Loaded loaded;
  loaded.kind = "leir";
  ParseOptions options;
  options.reading = reading;
  std::string text;
  if (path == "-") {
    loaded.name = "stdin";
    options.file = "<stdin>";
    CAIRN_TRY(text, read_stdin());
  } else {
    loaded.name = stem_of(path);
    options.file = path;
    CAIRN_TRY(text, read_file(path));
    const std::string beside = path.substr(0, path.rfind('.')) + ".safetensors";
    if (file_exists(beside)) {
      CAIRN_TRY(const auto tensors, read_safetensors(beside));
      for (const auto& [name, data] : tensors) options.const_digests[name] = tensor_digest(data);
      CAIRN_TRY(loaded.values, read_values(beside));
    }
  }
  CAIRN_TRY(loaded.program, parse_program(text, options));
  if (loaded.program.body().empty() && loaded.program.tensors().empty()) {
    return Error{Code::parse, fmt::format("{}: found no declaration and no statement, expected a LEIR program", options.file), {}, {}};
  }
  return loaded;
}

}  // namespace

Result<void> expect_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return Error{Code::usage, path + ": no such file", {}, {}};
  }
  if (S_ISDIR(info.st_mode)) return Error{Code::usage, path + ": is a directory, expected a file", {}, {}};
  return {};
}

Result<std::string> read_input(const std::string& path) {
  if (path == "-") return read_stdin();
  CAIRN_CHECKED(expect_file(path));
  return read_file(path);
}

Result<Loaded> load_program(Session& session, const std::string& path, const std::string& work_directory, Reading reading) {
  if (session.subject.empty()) session.subject = path;
  if (path != "-") CAIRN_CHECKED(expect_file(path));
  if (ends_with(path, ".py")) {
    std::string directory = work_directory;
    std::optional<ScratchDir> scratch;
    if (directory.empty()) {
      CAIRN_TRY(scratch, ScratchDir::create("cairn-import"));
      directory = scratch->path();
    }
    CAIRN_TRY(const std::string graph, run_python_import(session, path, directory));
    CAIRN_TRY(Loaded loaded, load_graph(graph));
    loaded.kind = "torch";
    loaded.name = stem_of(path);
    return loaded;
  }
  if (ends_with(path, ".json")) {
    CAIRN_TRY(Loaded loaded, load_graph(path));
    loaded.name = stem_of(path);
    return loaded;
  }
  for (const char* later : {".pt2", ".onnx"}) {
    if (ends_with(path, later)) {
      return Error{Code::usage, fmt::format("{}: {} files are not read by this version", path, later), {},
                   {"give a .py in KernelBench's form, a graph.json or a .leir"}};
    }
  }
  return load_leir(path, reading);
}

Result<Loaded> load_verified(Session& session, const std::string& path, const std::string& work_directory) {
  CAIRN_TRY(Loaded loaded, load_program(session, path, work_directory));
  CAIRN_TRY(const Target target, load_target(session));
  CAIRN_CHECKED(check_program(loaded.program, target));
  return loaded;
}

Result<ValueMap> read_value_file(const std::string& path) {
  CAIRN_CHECKED(expect_file(path));
  return read_values(path);
}

std::string executable_directory() {
  char buffer[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", buffer, sizeof buffer - 1);
  return n > 0 ? dirname_of(std::string(buffer, static_cast<std::size_t>(n))) : ".";
}

std::string c_function_name(const std::string& name) {
  std::string id = name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "cairn_" : "";
  for (const char c : name) id += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return id;
}

Result<Target> load_target(Session& session) {
  const std::string& name = session.settings.value("target");
  if (name == "host") return host_target();
  if (name == "described") return described_target();
  CAIRN_TRY(const std::string text, read_input(name));
  auto target = parse_target(text);
  if (!target.ok()) target.error().where.file = name;
  return target;
}

Result<unsigned> worker_count(Session& session, const Target& target) {
  CAIRN_TRY(const std::uint64_t jobs, session.settings.number("jobs"));
  if (jobs > 1024) return Error{Code::usage, fmt::format("jobs is {}, expected at most 1024", jobs), {}, {}};
  return static_cast<unsigned>(jobs == 0 ? std::max<std::int64_t>(1, target.cores) : static_cast<std::int64_t>(jobs));
}

}  // namespace cairn
