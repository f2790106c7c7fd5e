// Monte Carlo tree search with progressive widening (search-and-memory.md "Algorithms"): a node gets a new child while it
// has fewer than ceil((1 + visits)^0.5); else the walk goes on along the edge of the best value + 0.7 sqrt(ln N / n). The
// value of an edge is the mean over its visits of clip((score - q5) / max(q95 - q5, 0.01), 0, 1), q5 and q95 being
// running quantiles of the scores of correct results; a failure counts as 0 and enters no quantile. Statistics stand on
// edges and are backed up along the path that was walked; walks of one batch see each other as visits of value 0.
#include "search/mcts.h"

#include <algorithm>
#include <cmath>

#include "search/algorithms.h"

namespace cairn {

void ScoreQuantiles::add(double score) { scores_.insert(std::upper_bound(scores_.begin(), scores_.end(), score), score); }

double ScoreQuantiles::at(double share) const {
  if (scores_.empty()) return 0;
  // Linear between order statistics.
  const double place = share * static_cast<double>(scores_.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, scores_.size() - 1);
  return scores_[below] + (place - static_cast<double>(below)) * (scores_[above] - scores_[below]);
}

double ScoreQuantiles::value(double score) const {
  const double low = at(0.05), high = at(0.95);
  return std::clamp((score - low) / std::max(high - low, 0.01), 0.0, 1.0);
}

std::size_t widening_limit(std::uint64_t visits) {
  return static_cast<std::size_t>(std::ceil(std::sqrt(1.0 + static_cast<double>(visits))));
}

double edge_score(double value, std::uint64_t node_visits, std::uint64_t edge_visits) {
  constexpr double kExploration = 0.7;
  return value + kExploration * std::sqrt(std::log(static_cast<double>(node_visits)) / static_cast<double>(edge_visits));
}

namespace {

struct Edge {
  std::uint64_t number = 0;               // of the proposal
  std::int64_t child = -1;                // node; -1: failed, never walked
  std::vector<double> scores;             // of correct results below
  std::uint64_t failures = 0, pending = 0;
  std::uint64_t visits() const { return scores.size() + failures + pending; }
};

struct Node {
  const SearchState* state = nullptr;
  std::vector<Edge> edges;
  std::uint64_t visits = 0;
  std::size_t growing = 0;                // children asked for in this batch
  bool closed = false;                    // the proposer has nothing new here
};

// Edges walked from the root, and the node to expand.
struct Path {
  std::vector<std::pair<std::size_t, std::size_t>> edges;  // node, edge
  std::size_t leaf = 0;
};

class Tree {
 public:
  explicit Tree(SearchEngine& engine) : engine_(engine) {
    nodes_.push_back({});
    nodes_[0].state = &engine.root();
  }

  Result<void> run() {
    while (engine_.open()) {
      std::vector<Path> paths;
      for (int k = 0; k < std::max(1, engine_.options().lookahead); ++k) {
        Path path;
        if (!walk(&path)) break;
        paths.push_back(std::move(path));
      }
      if (paths.empty()) {
        engine_.note_restart();
        for (Node& node : nodes_) node.closed = false;
        continue;
      }
      CAIRN_CHECKED(grow(paths));
    }
    return {};
  }

 private:
  double value_of(const Edge& edge) const {
    double sum = 0;
    for (const double score : edge.scores) sum += quantiles_.value(score);
    return sum / static_cast<double>(edge.visits());
  }

  // False if every node is closed.
  bool walk(Path* path) {
    std::size_t at = 0;
    while (true) {
      Node& node = nodes_[at];
      if (!node.closed && node.edges.size() + node.growing < widening_limit(node.visits)) break;
      const std::size_t none = node.edges.size();
      std::size_t best = none;
      double best_score = 0;
      for (std::size_t k = 0; k < node.edges.size(); ++k) {
        const Edge& edge = node.edges[k];
        if (edge.child < 0 || !is_open(static_cast<std::size_t>(edge.child))) continue;
        const double score = edge_score(value_of(edge), std::max<std::uint64_t>(node.visits, 1), edge.visits());
        if (best == none || score > best_score) {
          best = k;
          best_score = score;
        }
      }
      if (best == none) {
        if (node.closed) return undo(*path), false;
        break;   // every child failed or is done: widen all the same
      }
      path->edges.emplace_back(at, best);
      node.edges[best].pending += 1;
      node.visits += 1;
      at = static_cast<std::size_t>(node.edges[best].child);
    }
    path->leaf = at;
    nodes_[at].growing += 1;
    nodes_[at].visits += 1;
    return true;
  }

  bool is_open(std::size_t at) const {
    const Node& node = nodes_[at];
    if (!node.closed) return true;
    return std::any_of(node.edges.begin(), node.edges.end(), [&](const Edge& e) { return e.child >= 0 && is_open(static_cast<std::size_t>(e.child)); });
  }

  void undo(const Path& path) {
    for (const auto& [node, edge] : path.edges) {
      nodes_[node].edges[edge].pending -= 1;
      nodes_[node].visits -= 1;
    }
  }

  // Expands the leaves together, then backs up each result along its path.
  Result<void> grow(const std::vector<Path>& paths) {
    std::vector<SearchEngine::Request> requests;
    for (const Path& path : paths) requests.push_back({nodes_[path.leaf].state, 1});
    CAIRN_TRY(const std::vector<Child> children, engine_.expand_all(requests));
    std::size_t next = 0;
    for (const Path& path : paths) {
      const std::size_t leaf = path.leaf;
      nodes_[leaf].growing -= 1;
      // One child a request at most, in order; a request whose state does not match the next child got none.
      if (next >= children.size() || children[next].from != nodes_[leaf].state) {
        nodes_[leaf].visits -= 1;
        nodes_[leaf].closed = engine_.open();
        undo(path);
        continue;
      }
      const Child& child = children[next++];
      Edge edge;
      edge.number = child.number;
      if (child.state) {
        quantiles_.add(child.state->score);
        edge.child = static_cast<std::int64_t>(nodes_.size());
        Node node;
        node.state = child.state;
        nodes_.push_back(std::move(node));
      }
      nodes_[leaf].edges.push_back(std::move(edge));
      back_up(&nodes_[leaf].edges.back(), child);
      for (const auto& [at, k] : path.edges) {
        nodes_[at].edges[k].pending -= 1;
        back_up(&nodes_[at].edges[k], child);
      }
    }
    return {};
  }

  static void back_up(Edge* edge, const Child& child) {
    if (child.state) {
      edge->scores.push_back(child.state->score);
    } else {
      edge->failures += 1;
    }
  }

  SearchEngine& engine_;
  std::vector<Node> nodes_;
  ScoreQuantiles quantiles_;
};

}  // namespace

Result<void> run_mcts(SearchEngine& engine) { return Tree(engine).run(); }

}  // namespace cairn
