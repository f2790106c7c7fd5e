// Where a run of a program leaves real arithmetic: side conditions derived from its operations, element by element.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/program.h"

namespace cairn {

// A program with, beside every tensor that it writes, one of marks of the same shape: 0 where every operation that the
// element comes from kept to real arithmetic, else the largest identifier of an operation that did not. Such operations
// are a division by zero; a result that is infinite or NaN though the operands are not; an underflow; a sum that
// overflows; a read of an input that is not finite, or denormal.
struct MarkedProgram {
  Program program;                                            // outputs: those of the program, and their marks
  std::map<std::string, std::string, std::less<>> marks;      // output -> its tensor of marks (f64)
  std::map<std::int64_t, std::string> conditions;             // identifier -> what was false, e.g. "s3: E_{i} != 0"
};
// An element written under a test on data also hangs on what the condition comes from.
Result<MarkedProgram> mark_program(const Program& program);

// The operations that leave real arithmetic on some operands (/ ** exp log sqrt rsqrt), each with its operands' form;
// names, subscripts and repetitions do not count. Equal lists: a step that moves work, not one that changes it.
std::vector<std::string> partial_operations(const Program& program);

}  // namespace cairn
