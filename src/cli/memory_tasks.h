// The tasks of `cairn bench memory`: LEIR templates with sizes (bench/memory/tasks.json), some for the store, some for the test.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace cairn {

struct MemoryTask {
  std::string name;        // "matmul-128x128x128"
  std::string family;      // as tasks.json says; equals family_of(program)
  bool test = false;       // else it fills the store
  Program program;
};

// All tasks of a directory in the file's order; refuses templates that do not parse, name an unknown size, or are of another
// family than the file says.
Result<std::vector<MemoryTask>> load_memory_tasks(const std::string& directory);

// Replaces each @...@ by the value of the sum of products of sizes and numbers between, such as @2*H+1@.
Result<std::string> fill_template(const std::string& text, const std::vector<std::pair<std::string, std::int64_t>>& sizes);

}  // namespace cairn
