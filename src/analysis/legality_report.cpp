#include "analysis/legality_report.h"

#include <fmt/core.h>

namespace cairn {

namespace {
std::string iteration(const Access& access, const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size() && i < access.loops.size(); ++i) {
    text += fmt::format("{}{}={}", i == 0 ? "" : ", ", access.loops[i]->var, values[i]);
  }
  return text.empty() ? "its one iteration" : text;
}

std::string doer(const Access& access) {
  if (access.stmt != nullptr && access.stmt->is_test()) return fmt::format("the test above s{}", access.equation);
  return fmt::format("s{}", access.equation);
}
}  // namespace

Legality refuse(const Program& program, SourcePos pos, std::string message) {
  Legality verdict;
  verdict.ok = false;
  verdict.reason = error_at(program, pos, Code::illegal, std::move(message));
  return verdict;
}

Legality refuse_pair(const Program& program, const std::string& what, const Access& a, const Access& b,
                     const std::vector<PairRelation>& relations) {
  const char* kind = !a.is_write ? "write-after-read (anti)" : b.is_write ? "write-after-write (output)" : "flow";
  const std::string first = fmt::format("{} {} {}", doer(a), a.is_write ? "writes" : "reads", a.tensor);
  const std::string second = fmt::format("{} {} it", doer(b), b.is_write ? "writes" : "reads");
  Legality verdict = refuse(program, b.pos != kNoPos ? b.pos : a.pos,
                            fmt::format("{} would reverse a {} dependence on {}: {} before {}", what, kind, a.tensor,
                                        first, second));
  const Touch touch = find_touch(a, b, relations);
  if (touch.at_a.size() == a.loops.size() && touch.at_b.size() == b.loops.size()) {
    verdict.reason.notes.push_back(fmt::format("{}: {} at {}, {} at {}",
                                               touch.answer == Answer::yes ? "for example" : "not excluded", first,
                                               iteration(a, touch.at_a), second, iteration(b, touch.at_b)));
  }
  if (touch.answer != Answer::yes) {
    verdict.reason.notes.push_back("a subscript or condition here is not affine, so the dependence can not be excluded");
  }
  return verdict;
}

bool Judge::refuses(const std::string& what, const PairFinder::Pair& pair, const std::vector<PairRelation>& relations) {
  const bool reduction = finder.is_reduction(pair);
  if (reduction && verdict.reorders_reduction) return false;
  if (finder.touch(pair, relations) == Answer::no) return false;
  if (scratch.is_scratch(finder.at(pair.first).tensor)) return false;
  if (reduction) {
    verdict.reorders_reduction = true;
    return false;
  }
  verdict = refuse_pair(program, what, finder.at(pair.first), finder.at(pair.second), relations);
  return true;
}

}  // namespace cairn
