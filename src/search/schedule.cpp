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
  Action action{strategy, std::move(args)};
  Digest path;
  const ApplyMemo::Known* known = nullptr;
  ApplyMemo::Known made;
  if (memo_) {
    path = digest_bytes(path_.hex() + print_action(action));
    known = memo_->find(path);
  }
  if (!known) {
    Result<Step> step = s->apply(program_, *target_, action.args);
    if (step.ok()) made.after = std::move(step->after);
    else made.refusal = std::string(strategy) + ": " + step.error().message;
    if (memo_) memo_->store(path, made);
    known = &made;
  }
  if (!known->after) {
    refusal_ = known->refusal;
    return false;
  }
  program_ = *known->after;
  path_ = path;
  actions_.push_back(std::move(action));
  return true;
}

void Schedule::rewind(const Mark& m) {
  program_ = m.program;
  path_ = m.path;
  actions_.resize(m.actions);
}

const ApplyMemo::Known* ApplyMemo::find(const Digest& path) const {
  const auto it = known_.find(path);
  return it == known_.end() ? nullptr : &it->second;
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
