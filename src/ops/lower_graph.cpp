#include "ops/lower_graph.h"

#include <algorithm>
#include <fmt/core.h>
#include <set>

#include "ops/build.h"
#include "ops/registry.h"
#include "ops/tensor_data.h"

namespace cairn {
namespace {

void collect_tensors(const Arg& arg, std::set<std::string, std::less<>>& out) {
  if (arg.kind == Arg::Kind::tensor) out.insert(arg.text);
  for (const Arg& item : arg.items) collect_tensors(item, out);
}

// Which nodes and tensors the outputs and updates need.
struct Needed {
  std::vector<bool> nodes;
  std::set<std::string, std::less<>> tensors;
};

Needed find_needed(const Graph& graph) {
  Needed needed;
  needed.nodes.assign(graph.nodes.size(), false);
  needed.tensors.insert(graph.outputs.begin(), graph.outputs.end());
  for (const GraphUpdate& update : graph.updates) {
    needed.tensors.insert(update.value);
    needed.tensors.insert(update.tensor);
  }
  for (std::size_t k = graph.nodes.size(); k-- > 0;) {
    const GraphNode& node = graph.nodes[k];
    for (const NodeOutput& output : node.outputs) {
      if (!output.name.empty() && needed.tensors.count(output.name) > 0) needed.nodes[k] = true;
    }
    if (!needed.nodes[k]) continue;
    for (const auto& [name, arg] : node.args) collect_tensors(arg, needed.tensors);
  }
  return needed;
}

Error unknown_operator(const GraphNode& node) {
  Error error;
  error.code = Code::parse;
  error.message = fmt::format("operator {} is not supported", node.op);
  error.where = node.place;
  std::string list;
  for (const std::string& name : supported_ops()) list += (list.empty() ? "" : " ") + name;
  error.notes.push_back("supported: " + list);
  return error;
}

class Lowering {
 public:
  Lowering(const Graph& graph, const ValueMap& constants) : graph_(graph), constants_(constants) {}

  Result<LoweredGraph> run() {
    const Needed needed = find_needed(graph_);
    CAIRN_CHECKED(declare_all(needed));
    for (std::size_t k = 0; k < graph_.nodes.size(); ++k) {
      if (!needed.nodes[k]) continue;
      const GraphNode& node = graph_.nodes[k];
      const OpEntry* entry = find_op(node.op);
      if (entry == nullptr) return unknown_operator(node);
      Call call(emit_, node, values_);
      CAIRN_CHECKED(entry->emit(call));
      for (const NodeOutput& output : node.outputs) {
        if (!output.name.empty() && values_.count(output.name) == 0) {
          return call.error(fmt::format("result '{}' got no value", output.name));
        }
      }
    }
    finish_outputs();
    CAIRN_CHECKED(finish_updates());
    out_.program = emit_.take();
    return std::move(out_);
  }

 private:
  Error fault(const std::string& message) const {
    Error error;
    error.code = Code::parse;
    error.message = message;
    error.where.file = graph_.file;
    return error;
  }

  bool reads_io(const Expr& element) const {
    return std::any_of(emit_.program().tensors().begin(), emit_.program().tensors().end(), [&](const Tensor& tensor) {
      return tensor.role == Role::io && reads_tensor(element, tensor.name);
    });
  }

  bool is_updated(const std::string& name) const {
    return std::any_of(graph_.updates.begin(), graph_.updates.end(),
                       [&](const GraphUpdate& update) { return update.tensor == name; });
  }

  Result<void> declare_all(const Needed& needed) {
    for (Role role : {Role::in, Role::param, Role::constant}) {
      for (const GraphTensor& tensor : graph_.tensors) {
        if (tensor.role != role) continue;
        // Inputs stay even when unused: the caller passes them.
        if (role != Role::in && needed.tensors.count(tensor.name) == 0) continue;
        if (tensor.scalar && role == Role::constant) {
          values_[tensor.name] = make_constant(tensor.dtype, {}, scalar_expr(tensor));
          continue;
        }
        const bool updated = is_updated(tensor.name);
        const Operand operand = emit_.declare(updated ? Role::io : role, tensor.dtype, tensor.shape);
        values_[tensor.name] = operand;
        const Binding binding{whole_tensor(operand), tensor.name};
        if (role == Role::in) out_.inputs.push_back(binding);
        if (role == Role::param) out_.parameters.push_back(binding);
        if (role == Role::constant) {
          out_.constants.push_back(binding);
          const auto found = constants_.find(tensor.name);
          if (found == constants_.end()) return fault(fmt::format("the values of constant '{}' are missing", tensor.name));
          CAIRN_TRY(const TensorData data, tensor_of_value(found->second));
          emit_.set_data(binding.leir, tensor_digest(data));
        }
      }
    }
    return {};
  }

  static ExprPtr scalar_expr(const GraphTensor& tensor) {
    if (tensor.dtype == Dtype::boolean) return build::eq(build::num(0), build::num(*tensor.scalar != 0 ? 0 : 1));
    if (!is_float(tensor.dtype)) return build::num(to_integer(tensor.dtype, *tensor.scalar));
    return build::tidy(round_to(tensor.dtype, *tensor.scalar));
  }

  // A stored temporary becomes the output itself; views, inputs and outputs given twice are copied.
  void finish_outputs() {
    for (const std::string& name : graph_.outputs) {
      const Operand& value = values_.at(name);
      std::string stored = whole_tensor(value);
      const Tensor* tensor = stored.empty() ? nullptr : emit_.program().find(stored);
      if (tensor == nullptr || tensor->role != Role::tmp) {
        const Operand copy =
            emit_.compute(value.dtype, value.shape, [&](const Index& i) { return value.at(i); });
        stored = whole_tensor(copy);
      }
      emit_.set_role(stored, Role::out);
      out_.outputs.push_back(stored);
    }
  }

  // Every read of the old value stands before; values that are views of an updated tensor are copied first.
  Result<void> finish_updates() {
    std::vector<std::pair<Operand, Operand>> pending;
    for (const GraphUpdate& update : graph_.updates) {
      const Operand& target = values_.at(update.tensor);
      Operand value = values_.at(update.value);
      if (value.shape != target.shape || value.dtype != target.dtype) {
        return fault(fmt::format("the update of '{}' has another shape or dtype", update.tensor));
      }
      if (reads_io(*value.element)) {
        value = emit_.compute(value.dtype, value.shape, [&](const Index& i) { return value.at(i); });
      }
      pending.emplace_back(target, std::move(value));
    }
    for (const auto& [target, value] : pending) {
      emit_.assign(target, target.shape,
                   [&, &source = value](const Index& i) { return std::make_pair(i, source.at(i)); });
    }
    return {};
  }

  const Graph& graph_;
  const ValueMap& constants_;
  Emitter emit_;
  Operands values_;
  LoweredGraph out_;
};

}  // namespace

Result<LoweredGraph> lower_graph(const Graph& graph, const ValueMap& constants) {
  return Lowering(graph, constants).run();
}

}  // namespace cairn
