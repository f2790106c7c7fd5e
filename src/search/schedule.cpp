#include "search/schedule.h"

#include "base/check.h"
#include "ir/walk.h"

namespace cairn {

bool Schedule::apply(const char* strategy, Args args) {
  const Strategy* s = find_strategy(strategy);
  if (!s) return false;
  for (const Param& p : s->params) {
    if (args.find(p.name)) continue;
    CAIRN_CHECK_MSG(!p.fallback.empty(), std::string(strategy) + " needs " + std::string(p.name));
    args.set(std::string(p.name), std::string(p.fallback));
  }
  Result<Step> step = s->apply(program_, *target_, args);
  if (!step.ok()) {
    refusal_ = std::string(strategy) + ": " + step.error().message;
    return false;
  }
  program_ = std::move(step->after);
  actions_.push_back(Action{strategy, std::move(args)});
  return true;
}

void Schedule::rewind(const Mark& m) {
  program_ = m.program;
  actions_.resize(m.actions);
}

namespace {
void add_loops(const Stmt& s, StmtPath* path, std::vector<LoopSite>* out) {
  if (s.is_equation()) return;
  const std::size_t at = out->size();
  if (s.is_loop()) out->push_back({*path, &s, true});
  for (std::size_t i = 0; i < s.body.size(); ++i) {
    path->push_back(static_cast<std::uint32_t>(i));
    add_loops(*s.body[i], path, out);
    path->pop_back();
  }
  if (s.is_loop() && out->size() > at + 1) (*out)[at].innermost = false;
}
}  // namespace

std::vector<LoopSite> loops_of_nest(const Program& program, std::size_t nest) {
  std::vector<LoopSite> out;
  if (nest >= program.body().size()) return out;
  StmtPath path{static_cast<std::uint32_t>(nest)};
  add_loops(*program.body()[nest], &path, &out);
  return out;
}

std::vector<const Stmt*> band_of_nest(const Program& program, std::size_t nest) {
  std::vector<const Stmt*> band;
  if (nest >= program.body().size()) return band;
  const Stmt* s = program.body()[nest].get();
  while (!s->is_equation()) {
    if (s->is_loop()) band.push_back(s);
    if (s->body.size() != 1) break;
    s = s->body[0].get();
  }
  return band;
}

std::string address_in(std::size_t nest, const std::string& var) { return std::to_string(nest) + "." + var; }

}  // namespace cairn
