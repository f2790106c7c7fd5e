// cairn emit: C source with header and launcher, or LEIR.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/file.h"
#include "cli/load.h"
#include "ir/text.h"
#include "lower/c.h"

namespace cairn {

CommandRun setup_emit(CLI::App& app) {
  struct Options { std::string file, as = "c", profile = "leir"; };
  auto options = std::make_shared<Options>();
  app.add_option("program", options->file, "program")->required();
  app.add_option("--as", options->as, "c or leir")->check(CLI::IsMember({"c", "leir"}));
  app.add_option("--profile", options->profile, "of leir: leir, short or steptp")->check(CLI::IsMember({"leir", "short", "steptp"}));
  return [options](Session& session) -> Result<int> {
    CAIRN_TRY(const Loaded loaded, load_verified(session, options->file));
    const std::string& out = session.settings.value("out");
    if (options->as == "leir") {
      std::string text;
      if (options->profile == "steptp") {
        CAIRN_TRY(text, print_steptp(loaded.program));
      } else {
        text = print_program(loaded.program, options->profile == "short" ? Profile::short_form : Profile::leir);
      }
      if (!out.empty()) CAIRN_CHECKED(write_file_atomic(out, text));
      session.answer(Json{{"ok", true}, {"text", text}}, out.empty() ? text : fmt::format("wrote {}\n", out));
      return 0;
    }
    CAIRN_TRY(const Target target, load_target(session));
    const std::string function = c_function_name(loaded.name);
    CLowerOptions lower;
    lower.entry = function + "_kernel";
    CAIRN_TRY(const CSource source, lower_c(loaded.program, target, lower));
    std::string flags;
    for (const std::string& flag : c_flags(target, false)) flags += (flags.empty() ? "" : " ") + flag;
    Json json{{"ok", true}, {"entry", source.entry}, {"flags", flags}, {"workspace_bytes", source.workspace_bytes},
              {"notes", source.notes}};
    if (out.empty()) {
      json["code"] = source.code;
      session.answer(json, source.code);
      return 0;
    }
    CAIRN_CHECKED(make_directories(out));
    const std::string base = join_path(out, function);
    CAIRN_CHECKED(write_file_atomic(base + "_kernel.c", source.code));
    CAIRN_CHECKED(write_file_atomic(base + ".h", c_header(source, function)));
    CAIRN_CHECKED(write_file_atomic(base + ".c", c_launcher(source, function)));
    json["files"] = {base + "_kernel.c", base + ".h", base + ".c"};
    session.answer(json, fmt::format("wrote {0}_kernel.c, {0}.c and {0}.h\nbuild: cc {1} -c {0}_kernel.c {0}.c\n", base, flags));
    return 0;
  };
}

}  // namespace cairn
