// Tasks and options shared by the evaluator's tests.
#pragma once
#include <string>

#include "base/file.h"
#include "eval/judge.h"
#include "ir/text.h"

namespace cairn::testing_eval {

inline Program parse_text(const std::string& text) {
  auto program = parse_program(text);
  if (!program.ok()) throw std::runtime_error(render(program.error()));
  return *std::move(program);
}

inline EvalTask read_task(const std::string& name) {
  EvalTask task;
  task.name = name;
  task.naive = parse_text(read_file(std::string(CAIRN_SOURCE_DIR) + "/tests/hacks/tasks/" + name + ".leir").value());
  task.seed = 7;
  return task;
}

inline JudgeOptions quick_options() {
  JudgeOptions options;
  options.call_seconds = 1.5;
  options.memory_bytes = 512u << 20;
  options.min_samples = 40;
  options.sample_seconds = 0.01;
  options.threads = 2;
  return options;
}

inline const std::vector<std::string>& kernel_flags() {
  static const std::vector<std::string> flags = {"-O2", "-march=native", "-std=gnu11", "-fopenmp", "-w"};
  return flags;
}

}  // namespace cairn::testing_eval
