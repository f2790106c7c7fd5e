#include "analysis/flow_cover.h"

#include <algorithm>
#include <map>

#include "analysis/flow_system.h"

namespace cairn {

namespace {
constexpr std::size_t kMaxUnion = 8;

// A region's constraints as rows over the read's iterations; false where a subscript of the read is a gather.
bool region_rows(const Region& region, AccessSystem& read, std::vector<AffineRow>* rows) {
  std::map<std::string, AffineRow, std::less<>> atoms;
  for (const auto& [name, expr] : region.atoms) {
    const auto row = read.row(*expr);
    if (!row) return false;
    atoms.emplace(name, *row);
  }
  for (const RegionConstraint& c : region.constraints) {
    AffineRow row = constant_row(c.form.constant);
    for (const auto& [name, coef] : c.form.terms) {
      const auto atom = atoms.find(name);
      const int v = read.variable(name);
      if (v < 0 && atom == atoms.end()) return false;
      const auto sum = combine_rows(row, 1, v >= 0 ? variable_row(v) : atom->second, coef);
      if (!sum) return false;
      row = *sum;
    }
    for (const auto& [dim, coef] : c.dims) {
      const auto& sub = read.subscript(dim);
      const auto sum = sub ? combine_rows(row, 1, *sub, coef) : std::nullopt;
      if (!sum) return false;
      row = *sum;
    }
    rows->push_back(std::move(row));
  }
  return true;
}

Shared shared_of(const Program& program, const Access& write, const CoverQuestion& question) {
  Shared shared = shared_loops(program, write, *question.read);
  if (shared.loops < question.counts.size()) shared.loops = question.counts[shared.loops];
  return shared;
}

// The contexts in which iterations of `write` precede the read's.
std::vector<RegionContext> contexts_of(const Shared& shared, std::size_t equal_loops) {
  std::vector<RegionContext> contexts;
  if (shared.loops < equal_loops) return contexts;
  if (shared.a_first) contexts.push_back({shared.loops, RegionContext::Step::free, shared.tests});
  for (std::size_t m = shared.loops; m-- > equal_loops;) {
    contexts.push_back({m, RegionContext::Step::previous, 0});
    contexts.push_back({m, RegionContext::Step::all_earlier, 0});
  }
  return contexts;
}
}  // namespace

Answer covered_by_regions(const Program& program, const CoverQuestion& question) {
  const Access& read = *question.read;
  AccessSystem iterations(read);
  if (question.extra) iterations.assume(*question.extra, question.extra_holds);
  if (proved_empty(iterations.system(), false)) return Answer::yes;
  std::vector<std::vector<AffineRow>> parts;
  std::vector<Region> kept;   // the system remembers addresses of their expressions
  for (const Access* write : question.writes) {
    const Shared shared = shared_of(program, *write, question);
    for (const RegionContext& context : contexts_of(shared, question.equal_loops)) {
      auto region = written_region(*write, context);
      if (!region) continue;
      kept.push_back(*std::move(region));
      std::vector<AffineRow> rows;
      if (!region_rows(kept.back(), iterations, &rows)) continue;
      std::vector<AffineRow> open;   // constraints that the read may break
      bool disjoint = false;
      for (AffineRow& row : rows) {
        const auto range = iterations.system().bounds(row);
        if (range && range->lo >= 0) continue;
        disjoint |= range && range->hi < 0;
        open.push_back(std::move(row));
      }
      if (disjoint) continue;
      std::erase_if(open, [&](const AffineRow& row) { return iterations.always_at_least_zero(row); });
      if (open.empty()) return Answer::yes;
      if (std::find(parts.begin(), parts.end(), open) == parts.end()) parts.push_back(std::move(open));
    }
  }
  for (const Access* write : question.writes) {
    const Shared shared = shared_of(program, *write, question);
    for (const RegionContext& context : contexts_of(shared, question.equal_loops)) {
      if (covered_by_witness(*write, context, question)) return Answer::yes;
    }
  }
  if (parts.size() < 2) return Answer::unknown;
  if (parts.size() > kMaxUnion) parts.resize(kMaxUnion);
  // Covered if no iteration is outside every part.
  IntegerSystem outside = iterations.system();
  for (const std::vector<AffineRow>& part : parts) {
    std::vector<Conjunction> cases;
    for (const AffineRow& row : part) {
      const auto negative = combine_rows(row, -1, constant_row(-1), 1);
      if (!negative) return Answer::unknown;
      cases.push_back({{*negative, false}});
    }
    outside.add_cases(std::move(cases));
  }
  return proved_empty(outside, false) ? Answer::yes : Answer::unknown;
}

Answer may_precede(const Program& program, const Access& write, const Access& read, const ExprPtr& extra) {
  const Shared shared = shared_loops(program, write, read);
  Access limited = read;
  if (extra) limited.conditions.push_back({extra, true});
  std::vector<PairRelation> relations;
  const auto ask = [&] { return may_touch(write, limited, relations); };
  Answer worst = Answer::no;
  for (std::size_t m = 0; m < shared.loops; ++m) {
    const std::string& var = read.loops[m]->var;
    relations.push_back({var, var, Order::less});
    const Answer a = ask();
    relations.pop_back();
    if (a == Answer::yes) return a;
    if (a == Answer::unknown) worst = a;
    relations.push_back({var, var, Order::equal});
  }
  if (!shared.a_first) return worst;
  const Answer a = ask();
  return a == Answer::no ? worst : a;
}

}  // namespace cairn
