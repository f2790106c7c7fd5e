#include "fuzz/parse_fuzz.h"

#include "ir/canon.h"
#include "ir/text.h"

namespace cairn {

namespace {
std::string check_reading(std::string_view bytes, Reading reading) {
  ParseOptions options;
  options.reading = reading;
  options.limits.depth = 60;
  const Result<Program> program = parse_program(bytes, options);
  if (!program.ok()) {
    render(program.error());
    return {};
  }
  // Printing may add parentheses: what it wrote is read under the default limits.
  const Digest hash = canonical_hash(*program);
  for (const Profile profile : {Profile::leir, Profile::short_form}) {
    const std::string text = print_program(*program, profile);
    const Result<Program> again = parse_program(text);
    if (!again.ok()) return "printed text does not parse: " + render(again.error()) + "\n" + text;
    if (canonical_hash(*again) != hash) return "the hash changed through:\n" + text;
    const std::string twice = print_program(*again, profile);
    if (twice != text) return "printing is no fixpoint:\n" + text + "\nthen\n" + twice;
  }
  const Result<std::string> steptp = print_steptp(*program);
  if (!steptp.ok()) return {};
  ParseOptions bare;
  for (const Tensor& tensor : program->tensors()) {
    if (tensor.declared) bare.known.push_back(tensor);
  }
  const Result<Program> again = parse_program(*steptp, bare);
  return again.ok() ? std::string() : "steptp text does not parse: " + render(again.error()) + "\n" + *steptp;
}
}  // namespace

std::string check_parse_bytes(std::string_view bytes) {
  for (const Reading reading : {Reading::automatic, Reading::steptp}) {
    std::string problem = check_reading(bytes, reading);
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace cairn
