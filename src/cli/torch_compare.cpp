#include "cli/torch_compare.h"

#include <fmt/core.h>

#include "base/file.h"
#include "base/process.h"
#include "cli/import_run.h"

namespace cairn {

namespace {

// Compiles the kernel to a shared object in `directory`.
Result<std::string> build_object(Session& session, const CSource& source, const Target& target, const std::string& directory) {
  const std::string c_path = join_path(directory, "kernel.c"), object = join_path(directory, "kernel.so");
  CAIRN_CHECKED(write_file_atomic(c_path, source.code));
  ProcessSpec spec;
  const std::string& cc = session.settings.value("cc");
  spec.argv = {cc.empty() ? "cc" : cc};
  for (const std::string& flag : c_flags(target, false)) spec.argv.push_back(flag);
  spec.argv.insert(spec.argv.end(), {"-shared", "-fPIC", "-o", object, c_path, "-lm"});
  CAIRN_TRY(const ProcessResult result, run_process(spec));
  if (!result.succeeded()) return Error{Code::compile, "the kernel does not compile: " + result.err, {}, {}};
  return object;
}

// What compare.py needs to call the kernel: parameters in order, with role, dtype and shape.
Json describe_kernel(const Loaded& loaded, const CSource& source, const std::string& object) {
  Json params = Json::array();
  for (const CParam& p : source.params) {
    params.push_back(Json{{"name", p.name}, {"role", std::string(role_name(p.role))}, {"dtype", std::string(dtype_name(p.dtype))}, {"shape", p.shape}});
  }
  return Json{{"object", object}, {"entry", source.entry}, {"workspace_bytes", source.workspace_bytes}, {"params", params},
              {"graph", loaded.graph_path}, {"bindings", loaded.bindings}, {"outputs", loaded.outputs}};
}

Result<TorchTimes> compare(Session& session, const Loaded& loaded, const std::string& module_file, const CSource& source,
                           const Target& target, bool torch_compile) {
  CAIRN_TRY(const ScratchDir scratch, ScratchDir::create("cairn-compare"));
  CAIRN_TRY(const std::string object, build_object(session, source, target, scratch.path()));
  const std::string spec_path = join_path(scratch.path(), "kernel.json");
  CAIRN_CHECKED(write_file_atomic(spec_path, dump_json(describe_kernel(loaded, source, object))));
  ProcessSpec spec;
  CAIRN_TRY(const std::string python, find_python(session));
  CAIRN_TRY(const std::uint64_t seed, session.settings.number("seed"));
  spec.argv = {python, "-m", "cairn.compare", module_file, spec_path, "--threads", std::to_string(target.cores), "--seed", std::to_string(seed)};
  if (torch_compile) spec.argv.push_back("--compile");
  spec.extra_env["PYTHONPATH"] = python_path();
  spec.extra_env["OMP_NUM_THREADS"] = std::to_string(target.cores);
  spec.limits.wall_seconds = torch_compile ? 400 : 120;
  CAIRN_TRY(const ProcessResult child, run_process(spec));
  if (!child.succeeded()) {
    return Error{Code::environment, "PyTorch was not timed: " + (child.err.empty() ? fmt::format("status {}", child.exit_status) : child.err), {}, {}};
  }
  CAIRN_TRY(const Json answer, parse_json(child.out, "cairn.compare"));
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
