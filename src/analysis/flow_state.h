// What a FlowAnalysis keeps (internal to the flow analysis).
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/flow.h"
#include "analysis/flow_cover.h"

namespace cairn {

struct FlowAnalysis::State {
  State(const Program& p, FlowMode m, ConcreteOptions o) : program(p), mode(m), options(o) {}
  const Program& program;
  FlowMode mode;
  ConcreteOptions options;

  bool boxes() const { return mode == FlowMode::automatic || mode == FlowMode::boxes_only; }
  bool isl() const { return mode == FlowMode::automatic || mode == FlowMode::isl_only; }
  bool concretes() const { return mode == FlowMode::automatic || mode == FlowMode::concrete_only; }
  const std::vector<Access>& accesses();
  const std::vector<const Access*>& writes(const std::string& tensor);
  const std::map<std::string, Shape, std::less<>>& shapes();
  const ConcreteFlow& concrete();
  Answer covered(const CoverQuestion& question, std::vector<std::int64_t>* example);
  Access widened(const Access& read);
  Access whole_tensor(const std::string& tensor, const Shape& shape);

 private:
  std::optional<std::vector<Access>> accesses_;
  std::map<std::string, std::vector<const Access*>> writes_;
  std::optional<std::map<std::string, Shape, std::less<>>> shapes_;
  std::optional<ConcreteFlow> concrete_;
  std::vector<StmtPtr> kept_;   // loops that stand in for gathered subscripts and whole tensors
};

std::string describe_iteration(const Access& access, const std::vector<std::int64_t>& values);
std::string describe_element(const std::string& tensor, const std::vector<std::int64_t>& element);
bool depends_on_data(const Expr& e);

}  // namespace cairn
