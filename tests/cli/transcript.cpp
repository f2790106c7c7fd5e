#include "cli/transcript.h"

namespace cairn {

namespace {

// Whether `text` is `pattern` with each "..." replaced by some text.
bool match_line(const std::string& pattern, const std::string& text) {
  std::size_t at = 0, from = 0;
  for (bool first = true;; first = false) {
    const std::size_t gap = pattern.find("...", from);
    const std::string part = pattern.substr(from, gap == std::string::npos ? gap : gap - from);
    if (gap == std::string::npos) {
      if (first) return text == pattern;
      return text.size() >= at + part.size() && text.compare(text.size() - part.size(), part.size(), part) == 0;
    }
    const std::size_t found = first ? (text.compare(0, part.size(), part) == 0 ? 0 : std::string::npos) : text.find(part, at);
    if (found == std::string::npos) return false;
    at = found + part.size();
    from = gap + 3;
  }
}

bool match_from(const std::vector<std::string>& expected, std::size_t e, const std::vector<std::string>& found, std::size_t f) {
  for (; e < expected.size(); ++e, ++f) {
    if (expected[e] == "...") {
      for (std::size_t skip = f; skip <= found.size(); ++skip) {
        if (match_from(expected, e + 1, found, skip)) return true;
      }
      return false;
    }
    if (f >= found.size() || !match_line(expected[e], found[f])) return false;
  }
  return f == found.size();
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

bool match_lines(const std::vector<std::string>& expected, const std::vector<std::string>& found) {
  return match_from(expected, 0, found, 0);
}

std::string show_step(const std::string& out, const std::string& err, int code) {
  std::string text;
  for (const std::string& line : lines_of(out)) text += line + "\n";
  for (const std::string& line : lines_of(err)) text += "! " + line + "\n";
  if (code != 0) text += "[" + std::to_string(code) + "]\n";
  return text;
}

std::vector<TranscriptStep> parse_transcript(const std::vector<std::string>& lines) {
  std::vector<TranscriptStep> steps;
  std::vector<TranscriptFile> files;
  for (std::size_t i = 0; i < lines.size();) {
    const std::string& line = lines[i];
    if (line.rfind("<<< ", 0) == 0) {
      TranscriptFile file{line.substr(4), ""};
      for (++i; i < lines.size() && lines[i] != ">>>"; ++i) file.text += lines[i] + "\n";
      files.push_back(std::move(file));
      ++i;
    } else if (line.rfind("$ ", 0) == 0) {
      TranscriptStep step;
      step.files = std::move(files);
      files.clear();
      step.command = line.substr(2);
      step.line = i + 1;
      step.first = ++i;
      for (; i < lines.size(); ++i) {
        const std::string& next = lines[i];
        if (next.rfind("$ ", 0) == 0 || next.rfind("# ", 0) == 0 || next.rfind("<<< ", 0) == 0) break;
        if (next.rfind("! ", 0) == 0) step.err.push_back(next.substr(2));
        else if (next == "!") step.err.emplace_back();
        else if (next.size() > 2 && next.front() == '[' && next.back() == ']' && next.find_first_not_of("0123456789", 1) == next.size() - 1)
          step.code = std::stoi(next.substr(1));
        else step.out.push_back(next);
      }
      step.last = i;
      while (step.last > step.first && lines[step.last - 1].empty()) --step.last;  // blank lines before a comment
      while (!step.out.empty() && step.out.back().empty()) step.out.pop_back();
      steps.push_back(std::move(step));
    } else {
      ++i;
    }
  }
  return steps;
}

}  // namespace cairn
