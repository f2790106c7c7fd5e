#include "cli/mutation_corpus.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "analysis/concrete.h"
#include "base/file.h"
#include "base/rng.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "strategy/strategy.h"
#include "verify/verify.h"

namespace cairn {

namespace {
struct NamedText {
  std::string name, text;
};

// The texts of a page's `leir before` blocks.
void append_blocks(const std::string& name, const std::string& page, std::vector<NamedText>& texts) {
  constexpr std::string_view kFence = "```leir before\n";
  std::size_t number = 0;
  for (std::size_t at = page.find(kFence); at != std::string::npos; at = page.find(kFence, at)) {
    at += kFence.size();
    const std::size_t end = std::min(page.find("```", at), page.size());
    texts.push_back({fmt::format("{}#{}", name, ++number), page.substr(at, end - at)});
    at = end;
  }
}

Result<std::vector<NamedText>> read_texts(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code failed;
    if (!std::filesystem::is_directory(path, failed)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (auto it = std::filesystem::recursive_directory_iterator(path, failed); !failed && it != std::filesystem::recursive_directory_iterator();
         it.increment(failed)) {
      const std::string extension = it->path().extension().string();
      if (extension == ".leir" || extension == ".md") found.push_back(it->path().string());
    }
    if (failed) return Error{Code::io, fmt::format("cannot list {}: {}", path, failed.message()), {}, {}};
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  std::vector<NamedText> texts;
  for (const std::string& file : files) {
    CAIRN_TRY(std::string text, read_file(file));
    const std::string name = join_path(basename_of(dirname_of(file)), basename_of(file));
    if (file.ends_with(".md")) append_blocks(name, text, texts);
    else texts.push_back({name, std::move(text)});
  }
  return texts;
}

// What up to three random steps make of a program; nothing if none applies.
std::optional<MutationPair> take_steps(const std::string& name, const Program& start, Rng rng, const MutationCorpusOptions& options) {
  MutationPair pair{name, start, start};
  const std::uint64_t wanted = 1 + rng.below(3);
  std::uint64_t made = 0;
  for (int attempt = 0; made < wanted && attempt < 12; ++attempt) {
    const Strategy& strategy = *all_strategies()[rng.below(all_strategies().size())];
    const std::vector<Args> sites = strategy.sites(pair.after, options.target);
    if (sites.empty()) continue;
    const Action action{std::string(strategy.name), sites[rng.below(sites.size())]};
    Result<Step> step = apply_action(pair.after, options.target, action);
    if (!step || step->exactness == Exactness::changes_precision || !step->recorded.empty()) continue;
    if (count_instances(step->after.body()) > 4 * options.max_instances) continue;
    pair.after = std::move(step->after);
    pair.name += " " + print_action(action);
    ++made;
  }
  if (made == 0) return std::nullopt;
  return pair;
}
}  // namespace

Result<std::vector<MutationPair>> make_mutation_corpus(const std::vector<std::string>& paths, const MutationCorpusOptions& options) {
  CAIRN_TRY(const std::vector<NamedText> texts, read_texts(paths));
  std::vector<MutationPair> pairs;
  std::set<Digest> seen;
  std::uint64_t number = 0;
  for (const NamedText& one : texts) {
    ParseOptions parse;
    parse.file = one.name;
    const Result<Program> program = parse_program(one.text, parse);
    if (!program || !check_program(*program, options.target) || count_instances(program->body()) > options.max_instances) continue;
    if (!seen.insert(canonical_hash(*program)).second) continue;
    if ((number++ + options.seed) % options.every != 0) continue;
    pairs.push_back({one.name, *program, *program});
    for (std::size_t k = 0; k < options.steps; ++k) {
      if (auto pair = take_steps(one.name, *program, Rng(options.seed).split(one.name).split(k), options)) {
        if (seen.insert(canonical_hash(pair->after)).second) pairs.push_back(*std::move(pair));
      }
    }
  }
  return pairs;
}

}  // namespace cairn
