// einsum of any number of operands: one nest where that costs no more than contracting pairs, else pair by pair.
#include <algorithm>
#include <map>

#include "ops/build.h"
#include "ops/contract.h"
#include "ops/families.h"

namespace cairn {
namespace {

using namespace build;

// Axis labels: letters as themselves, the axes of "..." as numbers from 1000 on, aligned at their ends.
using Labels = std::vector<int>;
constexpr int kEllipsis = 1000;

struct Term {
  Operand operand;
  Labels labels;
};

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
  std::map<int, std::int64_t> extents;
};

std::string without_spaces(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c != ' ') out.push_back(c);
  }
  return out;
}

// Labels of one part; `spare` axes stand for its "...".
Result<Labels> read_labels(Call& call, const std::string& part, std::size_t spare) {
  Labels labels;
  for (std::size_t k = 0; k < part.size(); ++k) {
    if (part.compare(k, 3, "...") == 0) {
      for (std::size_t axis = 0; axis < spare; ++axis) labels.push_back(kEllipsis - static_cast<int>(spare - axis));
      k += 2;
    } else if ((part[k] >= 'a' && part[k] <= 'z') || (part[k] >= 'A' && part[k] <= 'Z')) {
      labels.push_back(part[k]);
    } else {
      return call.error("equation part '" + part + "' is not understood");
    }
  }
  return labels;
}

Result<Equation> parse_equation(Call& call, const std::string& text, const std::vector<Operand>& operands) {
  Equation out;
  const std::string clean = without_spaces(text);
  const auto arrow = clean.find("->");
  std::string left = clean.substr(0, arrow) + ",";
  std::size_t spare_most = 0;
  for (const Operand& operand : operands) {
    const auto comma = left.find(',');
    if (comma == std::string::npos) return call.error("equation '" + text + "' has fewer parts than operands");
    const std::string part = left.substr(0, comma);
    left.erase(0, comma + 1);
    std::size_t letters = part.size();
    if (part.find("...") != std::string::npos) letters -= 3;
    if (letters > operand.rank()) return call.error("equation '" + text + "' names more axes than an operand has");
    const std::size_t spare = part.size() == letters ? 0 : operand.rank() - letters;
    spare_most = std::max(spare_most, spare);
    CAIRN_TRY(const Labels labels, read_labels(call, part, spare));
    if (labels.size() != operand.rank()) return call.error("equation '" + text + "' does not fit an operand's rank");
    for (std::size_t axis = 0; axis < labels.size(); ++axis) {
      auto [at, fresh] = out.extents.emplace(labels[axis], operand.shape[axis]);
      if (!fresh && at->second == 1) at->second = operand.shape[axis];
      if (at->second != operand.shape[axis] && operand.shape[axis] != 1) return call.error("extents of a label differ");
    }
    out.inputs.push_back(labels);
  }
  if (!left.empty()) return call.error("equation '" + text + "' has more parts than operands");
  if (arrow != std::string::npos) {
    CAIRN_TRY(out.output, read_labels(call, clean.substr(arrow + 2), spare_most));
    return out;
  }
  // Implicit: "..." first, then labels that occur once, in alphabetical order.
  std::map<int, int> seen;
  for (const Labels& labels : out.inputs) {
    for (int label : labels) ++seen[label];
  }
  for (std::size_t axis = 0; axis < spare_most; ++axis) out.output.push_back(kEllipsis - static_cast<int>(spare_most - axis));
  for (const auto& [label, count] : seen) {
    if (count == 1 && label < 256) out.output.push_back(label);
  }
  return out;
}

bool contains(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

// The product of the terms summed over every label that the output lacks, as one nest.
Term contract_terms(Call& call, const std::vector<Term>& terms, const Labels& output,
                    const std::map<int, std::int64_t>& extents, Dtype dtype) {
  Labels summed;
  for (const Term& term : terms) {
    for (int label : term.labels) {
      if (!contains(output, label) && !contains(summed, label)) summed.push_back(label);
    }
  }
  Shape shape;
  Shape reduced;
  for (int label : output) shape.push_back(extents.at(label));
  for (int label : summed) reduced.push_back(extents.at(label));
  Operand result = contract(call.emit, dtype, shape, reduced, [&](const Index& i, const Index& r) {
    ExprPtr product;
    for (const Term& term : terms) {
      Index own;
      for (std::size_t axis = 0; axis < term.labels.size(); ++axis) {
        const int label = term.labels[axis];
        const auto at = std::find(output.begin(), output.end(), label);
        ExprPtr subscript = at != output.end()
                                ? i[static_cast<std::size_t>(at - output.begin())]
                                : r[static_cast<std::size_t>(std::find(summed.begin(), summed.end(), label) - summed.begin())];
        own.push_back(term.operand.shape[axis] == 1 ? num(0) : subscript);
      }
      const ExprPtr factor = term.operand.at(own);
      product = product == nullptr ? factor : mul(product, factor);
    }
    return product;
  });
  return {std::move(result), output};
}

double count_points(const std::vector<const Term*>& terms, const std::map<int, std::int64_t>& extents) {
  Labels all;
  double points = 1;
  for (const Term* term : terms) {
    for (int label : term->labels) {
      if (contains(all, label)) continue;
      all.push_back(label);
      points *= static_cast<double>(extents.at(label));
    }
  }
  return points;
}

// Labels of a pair's result: those that the output or another term still needs.
Labels pair_output(const std::vector<Term>& terms, std::size_t a, std::size_t b, const Labels& output) {
  Labels kept;
  for (std::size_t k : {a, b}) {
    for (int label : terms[k].labels) {
      bool needed = contains(output, label);
      for (std::size_t other = 0; other < terms.size(); ++other) {
        if (other != a && other != b) needed = needed || contains(terms[other].labels, label);
      }
      if (needed && !contains(kept, label)) kept.push_back(label);
    }
  }
  return kept;
}

Result<void> emit_einsum(Call& call) {
  CAIRN_TRY(const std::string text, call.text("equation"));
  CAIRN_TRY(const auto operands, call.tensors("tensors"));
  if (operands.empty()) return call.error("no operands");
  CAIRN_TRY(Equation equation, parse_equation(call, text, operands));
  for (int label : equation.output) {
    if (equation.extents.count(label) == 0) return call.error("the output names an axis that no operand has");
  }
  std::vector<Term> terms;
  for (std::size_t k = 0; k < operands.size(); ++k) terms.push_back({operands[k], equation.inputs[k]});
  const auto& extents = equation.extents;
  while (terms.size() > 2) {
    std::vector<const Term*> all;
    for (const Term& term : terms) all.push_back(&term);
    const double whole = count_points(all, extents);
    std::size_t best_a = 0;
    std::size_t best_b = 1;
    double best = -1;
    for (std::size_t a = 0; a < terms.size(); ++a) {
      for (std::size_t b = a + 1; b < terms.size(); ++b) {
        const double points = count_points({&terms[a], &terms[b]}, extents);
        if (best < 0 || points < best) {
          best = points;
          best_a = a;
          best_b = b;
        }
      }
    }
    // Does any later pair cost as much as the whole? Then the pairs save nothing.
    const Labels kept = pair_output(terms, best_a, best_b, equation.output);
    std::vector<Term> rest;
    Term pair{make_constant(call.dtype(), {}, num(0)), kept};
    rest.push_back(pair);
    for (std::size_t k = 0; k < terms.size(); ++k) {
      if (k != best_a && k != best_b) rest.push_back(terms[k]);
    }
    std::vector<const Term*> after;
    for (const Term& term : rest) after.push_back(&term);
    if (best + count_points(after, extents) >= whole) break;
    rest[0] = contract_terms(call, {terms[best_a], terms[best_b]}, kept, extents, call.dtype());
    terms = std::move(rest);
  }
  return call.finish(contract_terms(call, terms, equation.output, extents, call.dtype()).operand);
}

constexpr OpEntry kOps[] = {
    {"aten.einsum.default", emit_einsum},
};

}  // namespace

std::span<const OpEntry> einsum_ops() { return kOps; }

}  // namespace cairn
