// Breadth first and depth first: b = 3 to depth 4 over states that passed; when that tree is done, both deepen: each state
// gets 3 more proposals and the depth grows by one (search-and-memory.md "Algorithms").
#include <deque>
#include <map>

#include "search/algorithms.h"

namespace cairn {

namespace {
constexpr std::size_t kProposals = 3;
constexpr int kDepth = 4;

// The tree that was walked; a state found again keeps its first place.
class Levels {
 public:
  Levels(SearchEngine& engine, bool breadth) : engine_(engine), breadth_(breadth) {}

  Result<void> run() {
    for (int round = 0; engine_.open(); ++round) {
      CAIRN_TRY(const bool any, visit_all(round));
      if (!any) engine_.note_restart();
    }
    return {};
  }

 private:
  struct Node {
    std::vector<const SearchState*> children;   // that passed, in the order they came
    std::size_t asked = 0;                      // rounds this state was expanded in
  };

  // One round; true if anything new was committed.
  Result<bool> visit_all(int round) {
    std::deque<std::pair<const SearchState*, int>> open{{&engine_.root(), 0}};
    bool any = false;
    while (!open.empty() && engine_.open()) {
      const auto [state, depth] = breadth_ ? open.front() : open.back();
      breadth_ ? open.pop_front() : open.pop_back();
      if (depth >= kDepth + round) continue;
      Node& node = nodes_[state->id];
      if (node.asked <= static_cast<std::size_t>(round)) {
        node.asked = static_cast<std::size_t>(round) + 1;
        CAIRN_TRY(const std::vector<Child> children, engine_.expand_all({{state, kProposals}}));
        any |= !children.empty();
        for (const Child& child : children) {
          if (child.state) node.children.push_back(child.state);
        }
      }
      if (breadth_) {
        for (const SearchState* child : node.children) open.emplace_back(child, depth + 1);
      } else {
        for (std::size_t k = node.children.size(); k-- > 0;) open.emplace_back(node.children[k], depth + 1);
      }
    }
    return any;
  }

  SearchEngine& engine_;
  bool breadth_;
  std::map<std::uint64_t, Node> nodes_;
};
}  // namespace

Result<void> run_bfs(SearchEngine& engine) { return Levels(engine, true).run(); }
Result<void> run_dfs(SearchEngine& engine) { return Levels(engine, false).run(); }

}  // namespace cairn
