#include "cli/torch_compare.h"

#include <fmt/core.h>

#include "base/file.h"
#include "base/process.h"
#include "cli/executor.h"
#include "cli/import_run.h"
#include "eval/compile.h"

namespace cairn {

namespace {

constexpr int kEagerSeconds = 120;     // for everything but torch.compile
constexpr int kCompileSeconds = 300;   // compare.py gives up on torch.compile then, and keeps what it has

// What compare.py needs to call the kernel: parameters in order, with role, dtype and shape.
Json describe_kernel(const Loaded& loaded, const CSource& source, const std::string& object) {
  Json params = Json::array();
  for (const CParam& p : source.params) {
    params.push_back(Json{{"name", p.name}, {"role", std::string(role_name(p.role))}, {"dtype", std::string(dtype_name(p.dtype))}, {"shape", p.shape}});
  }
  return Json{{"object", object}, {"entry", source.entry}, {"workspace_bytes", source.workspace_bytes}, {"params", params},
              {"graph", loaded.graph_path}, {"bindings", loaded.bindings}, {"outputs", loaded.outputs}};
}

// The last whole line: compare.py prints what it knows before it tries more.
std::string last_line(const std::string& text) {
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos) return {};
  const std::size_t start = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  return text.substr(start == std::string::npos ? 0 : start + 1, end - (start == std::string::npos ? 0 : start + 1));
}

Result<TorchTimes> compare(Session& session, const Loaded& loaded, const std::string& module_file, const CSource& source,
                           const Target& target, bool torch_compile) {
  CAIRN_TRY(const ScratchDir scratch, ScratchDir::create("cairn-compare"));
  CAIRN_TRY(const std::unique_ptr<Compiler> compiler, Compiler::create(cache_directory_of(session), CpuEvalOptions{}.compile_seconds));
  CAIRN_TRY(const CompiledObject object, compiler->build(source.code, c_flags(target, false)));
  const std::string spec_path = join_path(scratch.path(), "kernel.json");
  CAIRN_CHECKED(write_file_atomic(spec_path, dump_json(describe_kernel(loaded, source, object.path))));
  ProcessSpec spec;
  CAIRN_TRY(const std::string python, find_python(session));
  CAIRN_TRY(const std::uint64_t seed, session.settings.number("seed"));
  spec.argv = {python, "-m", "cairn.compare", module_file, spec_path, "--threads", std::to_string(target.cores), "--seed", std::to_string(seed)};
  if (torch_compile) spec.argv.insert(spec.argv.end(), {"--compile", "--compile-seconds", std::to_string(kCompileSeconds)});
  spec.extra_env["PYTHONPATH"] = python_path();
  spec.extra_env["OMP_NUM_THREADS"] = std::to_string(target.cores);
  spec.limits.wall_seconds = kEagerSeconds + (torch_compile ? kCompileSeconds + 30 : 0);
  CAIRN_TRY(const ProcessResult child, run_process(spec));
  const std::string line = last_line(child.out);
  if (line.empty()) {
    std::string why = child.err.empty() ? fmt::format("status {}", child.exit_status) : child.err;
    if (child.timed_out) why = fmt::format("it did not answer within {:g} s", spec.limits.wall_seconds);
    return Error{Code::environment, "PyTorch was not timed: " + why, {}, {}};
  }
  CAIRN_TRY(const Json answer, parse_json(line, "cairn.compare"));
  TorchTimes times;
  CAIRN_TRY(times.eager_seconds, get_double(answer, "eager"));
  CAIRN_TRY(times.compile_seconds, get_double(answer, "compile"));
  CAIRN_TRY(times.ours_seconds, get_double(answer, "ours"));
  CAIRN_TRY(times.max_error, get_double(answer, "max_error"));
  times.threads = target.cores;
  CAIRN_TRY(times.note, get_string(answer, "note"));
  return times;
}

}  // namespace

TorchTimes compare_with_torch(Session& session, const Loaded& loaded, const std::string& module_file, const CSource& source,
                              const Target& target, bool torch_compile) {
  auto times = compare(session, loaded, module_file, source, target, torch_compile);
  if (times.ok()) return times.value();
  TorchTimes none;
  std::string message = times.error().message;
  while (!message.empty() && message.back() == '\n') message.pop_back();
  none.note = message;
  return none;
}

}  // namespace cairn
