#include "eval/compile.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"

namespace cairn {

namespace {
constexpr std::uint64_t kCompilerMemory = 4ull << 30;
constexpr std::uint64_t kObjectBytes = 64u << 20;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The first line that says "error", else the first line.
std::string find_error(const std::string& text) {
  for (const TextLine& line : split_lines(text)) {
    if (line.text.find("error") != std::string_view::npos) return std::string(line.text);
  }
  return first_line(text);
}

std::string join_flags(const std::vector<std::string>& flags) {
  std::string text;
  for (const std::string& flag : flags) text += flag + '\n';
  return text;
}
}  // namespace

Result<std::unique_ptr<Compiler>> Compiler::create(const std::string& directory, double seconds) {
  std::unique_ptr<Compiler> compiler(new Compiler);
  compiler->seconds_ = seconds;
  const char* variable = std::getenv("CAIRN_CC");
  const std::string name = variable != nullptr && *variable != '\0' ? variable : "cc";
  auto program = find_program(name);
  if (!program.ok()) {
    Error error{Code::environment, fmt::format("no C compiler: {}", program.error().message), {}, {}};
    error.notes.push_back("install one (Debian: apt install gcc) or set CAIRN_CC to its path");
    return error;
  }
  compiler->program_ = *program;
  ProcessSpec spec;
  spec.argv = {*program, "--version"};
  spec.limits.wall_seconds = 20;
  CAIRN_TRY(const ProcessResult ran, run_process(spec));
  if (!ran.succeeded()) {
    return Error{Code::environment, fmt::format("{} --version failed: {}", *program, first_line(ran.err)), {}, {}};
  }
  compiler->version_ = first_line(ran.out);
  if (directory.empty()) {
    CAIRN_TRY(ScratchDir scratch, ScratchDir::create());
    compiler->directory_ = scratch.path();
    compiler->scratch_ = std::make_unique<ScratchDir>(std::move(scratch));
  } else {
    // Kernels are loaded by processes that run elsewhere.
    std::error_code failure;
    const std::string whole = std::filesystem::absolute(directory, failure).string();
    if (failure) return errno_error("find", directory, failure.value());
    compiler->directory_ = join_path(whole, "objects");
    CAIRN_CHECKED(make_directories(compiler->directory_));
  }
  return compiler;
}

Result<CompiledObject> Compiler::build(const std::string& source, const std::vector<std::string>& flags) const {
  CompiledObject object;
  object.key = digest_bytes(fmt::format("{}\n{}\n{}\n{}", program_, version_, join_flags(flags), source)).hex();
  object.path = join_path(directory_, object.key + ".so");
  if (file_exists(object.path)) return object;
  CAIRN_TRY(const ScratchDir scratch, ScratchDir::create());
  const std::string out = join_path(scratch.path(), "kernel.so");
  CAIRN_CHECKED(write_file_atomic(join_path(scratch.path(), "kernel.c"), source));
  ProcessSpec spec;
  spec.argv = {program_};
  spec.argv.insert(spec.argv.end(), flags.begin(), flags.end());
  for (const char* word : {"-shared", "-fPIC", "-o", "kernel.so", "kernel.c", "-lm"}) spec.argv.push_back(word);
  spec.directory = scratch.path();
  spec.clean_env = true;
  spec.extra_env = {{"TMPDIR", scratch.path()}, {"LC_ALL", "C"}};
  spec.limits.wall_seconds = seconds_;
  spec.limits.memory_bytes = kCompilerMemory;
  spec.limits.file_bytes = kObjectBytes;
  spec.limits.output_bytes = 1 << 20;
  CAIRN_TRY(const ProcessResult ran, run_process(spec));
  if (ran.timed_out) {
    return Error{Code::compile, fmt::format("{} took longer than {:.3g} s", basename_of(program_), seconds_), {}, {}};
  }
  if (!ran.succeeded()) {
    const std::string what = ran.signal != 0 ? fmt::format("ended by signal {}", ran.signal) : find_error(ran.err);
    return Error{Code::compile, fmt::format("{}: {}", basename_of(program_), what), {}, {ran.err.substr(0, 2000)}};
  }
  CAIRN_TRY(const std::string bytes, read_file(out));
  CAIRN_CHECKED(write_file_atomic(object.path, bytes));
  object.seconds = ran.wall_seconds;
  return object;
}

}  // namespace cairn
