// Transcripts of the command line (tests/e2e/*.txt): commands with what they must print, run by a shell.
//
//   # a comment
//   <<< name.leir          a file of the scratch directory, up to the line >>>
//   $ cairn show x.leir    a command; then its stdout, its stderr behind "! ", and "[code]" unless it is 0
//
// "..." in an expected line stands for any text of the line, a line "..." for any lines.
#pragma once
#include <string>
#include <vector>

namespace cairn {

struct TranscriptFile {
  std::string name, text;
};
// A command and what is expected of it; `files` are written before it runs.
struct TranscriptStep {
  std::vector<TranscriptFile> files;
  std::string command;
  std::vector<std::string> out, err;
  int code = 0;
  std::size_t line = 0;              // of the command
  std::size_t first = 0, last = 0;   // lines [first, last) of the expectation
};

std::vector<TranscriptStep> parse_transcript(const std::vector<std::string>& lines);
// Whether text's lines match the expected ones; wildcards as above.
bool match_lines(const std::vector<std::string>& expected, const std::vector<std::string>& found);
std::vector<std::string> lines_of(const std::string& text);
// What a command did, in a transcript's form.
std::string show_step(const std::string& out, const std::string& err, int code);

}  // namespace cairn
