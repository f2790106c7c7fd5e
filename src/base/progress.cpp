#include "base/progress.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cairn {

namespace {
constexpr double kTerminalGap = 0.25;  // seconds between redraws
constexpr double kLineGap = 2.0;       // seconds between plain lines

void write_err(const std::string& text) {
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
}

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

std::string show_seconds(double s) {
  if (s < 60) return fmt::format("{:.0f} s", std::ceil(s));
  if (s < 3600) return fmt::format("{} min {:02} s", static_cast<int>(s) / 60, static_cast<int>(s) % 60);
  return fmt::format("{} h {:02} min", static_cast<int>(s / 3600), static_cast<int>(s) / 60 % 60);
}
}  // namespace

Progress::Progress(Clock& clock, Mode mode, std::string title, std::uint64_t total)
    : clock_(clock), mode_(mode), title_(std::move(title)), total_(total), start_(clock.now()) {
  if (mode_ != Mode::automatic) return;
  mode_ = isatty(STDERR_FILENO) != 0 ? Mode::terminal : Mode::lines;
  if (mode_ == Mode::lines) last_ = start_;   // nothing of what is soon done
}

Progress::~Progress() {
  if (drawn_ && !finished_) write_err("\n");
}

void Progress::update(std::uint64_t done, const std::string& note) {
  done_ = done;
  if (mode_ == Mode::off || finished_) return;
  const double now = clock_.now();
  if (last_ >= 0 && now - last_ < (mode_ == Mode::terminal ? kTerminalGap : kLineGap)) return;
  last_ = now;
  const double elapsed = now - start_;
  std::string text = total_ > 0 ? fmt::format("{}: {}/{}", title_, done, total_) : fmt::format("{}: {}", title_, done);
  if (done > 0 && elapsed > 0) {
    const double rate = static_cast<double>(done) / elapsed;
    text += rate >= 1 ? fmt::format(", {:.1f}/s", rate) : fmt::format(", {:.1f} s each", 1 / rate);
    if (total_ > done) text += ", " + show_seconds(static_cast<double>(total_ - done) / rate) + " left";
  }
  if (!note.empty()) text += ", " + note;
  if (mode_ == Mode::lines) {
    write_err(text + "\n");
    return;
  }
  text.resize(std::min(text.size(), terminal_width() - 1));
  write_err("\r" + text + "\x1b[K");
  drawn_ = true;
}

void Progress::wait(const std::string& what) { update(done_, "waiting: " + what); }

void Progress::finish(const std::string& note) {
  if (mode_ == Mode::off || finished_) return;
  finished_ = true;
  std::string text = title_ + ": done in " + show_seconds(clock_.now() - start_);
  if (!note.empty()) text += ", " + note;
  write_err((drawn_ ? "\r\x1b[K" : "") + text + "\n");
}

}  // namespace cairn
