// cairn run: executes a program by the interpreter on given or generated inputs.
#include <cmath>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/load.h"
#include "verify/families.h"
#include "verify/verify.h"

namespace cairn {

namespace {

struct RunOptions {
  std::string file, inputs, family = "normal";
  bool in_f64 = false, temporaries = false;
};

// Shape, dtype, sum and the first elements of a value, for people and JSON.
Json describe(const Value& v, std::string* line) {
  Json first = Json::array();
  std::string elements;
  double sum = 0;
  const std::int64_t n = v.size();
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double x = is_float(v.dtype) ? v.floats[at] : static_cast<double>(v.ints[at]);
    sum += x;
    if (i < 8) {
      first.push_back(std::isfinite(x) ? Json(x) : Json(fmt::format("{}", x)));
      elements += fmt::format("{}{:.9g}", i ? " " : "", x);
    }
  }
  std::string shape;
  for (const std::int64_t extent : v.shape) shape += fmt::format("{}{}", shape.empty() ? "" : ",", extent);
  *line = fmt::format("{}[{}]  sum {:.9g}  {}{}", dtype_name(v.dtype), shape, sum, elements, n > 8 ? " ..." : "");
  return Json{{"dtype", std::string(dtype_name(v.dtype))}, {"shape", v.shape},
              {"sum", std::isfinite(sum) ? Json(sum) : Json(fmt::format("{}", sum))}, {"first", first}};
}

std::optional<Family> family_by_name(const std::string& name) {
  for (const Family f : all_families()) {
    if (family_name(f) == name) return f;
  }
  return std::nullopt;
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ",", extent);
  return "[" + text + "]";
}

// A value from a file must be one that the program takes, of its dtype and shape.
Result<void> check_given(const Program& program, const std::string& file, const std::string& name, const Value& value) {
  const Tensor* tensor = program.find(name);
  const bool taken = tensor && tensor->role != Role::out && tensor->role != Role::tmp;
  if (!taken) {
    std::string known;
    for (const Tensor& t : program.tensors()) {
      if (t.role != Role::out && t.role != Role::tmp) known += " " + t.name;
    }
    return Error{Code::parse, fmt::format("{}: the program takes no tensor '{}'{}", file, name,
                                          tensor ? fmt::format(" (its role is {})", role_name(tensor->role)) : ""), {},
                 {known.empty() ? "it takes none" : "it takes:" + known}};
  }
  if (value.dtype != tensor->dtype || value.shape != tensor->shape) {
    return Error{Code::parse, fmt::format("{}: {} is {}{}, expected {}{}", file, name, dtype_name(value.dtype), shape_text(value.shape),
                                          dtype_name(tensor->dtype), shape_text(tensor->shape.value_or(Shape{}))), {}, {}};
  }
  return {};
}

}  // namespace

CommandRun setup_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("program", options->file, "program")->required();
  app.add_option("--inputs", options->inputs, "input values (.safetensors); missing ones are generated");
  app.add_option("--family", options->family, "family of generated inputs");
  app.add_flag("--f64", options->in_f64, "compute every float in f64");
  app.add_flag("--temporaries", options->temporaries, "return temporaries too");
  return [options](Session& session) -> Result<int> {
    CAIRN_TRY(const Loaded loaded, load_verified(session, options->file));
    const auto family = family_by_name(options->family);
    if (!family) {
      std::string known;
      for (const Family f : all_families()) known += fmt::format(" {}", family_name(f));
      return Error{Code::usage, fmt::format("unknown family '{}'", options->family), {}, {"known:" + known}};
    }
    CAIRN_TRY(const std::uint64_t seed, session.settings.number("seed"));
    ValueMap inputs = make_inputs(loaded.program, *family, seed);
    for (const auto& [name, value] : loaded.values) inputs[name] = value;
    if (!options->inputs.empty()) {
      CAIRN_TRY(ValueMap given, read_value_file(options->inputs));
      for (auto& [name, value] : given) {
        CAIRN_CHECKED(check_given(loaded.program, options->inputs, name, value));
        inputs[name] = std::move(value);
      }
    }
    InterpOptions interp;
    interp.in_f64 = options->in_f64;
    interp.keep_temporaries = options->temporaries;
    CAIRN_TRY(const ValueMap outputs, interpret(loaded.program, inputs, interp));
    Json json{{"ok", true}, {"outputs", Json::object()}};
    std::string text;
    for (const auto& [name, value] : outputs) {
      std::string line;
      json["outputs"][name] = describe(value, &line);
      text += fmt::format("{} {}\n", name, line);
    }
    if (const std::string& out = session.settings.value("out"); !out.empty()) {
      CAIRN_CHECKED(write_values(out, outputs));
      text += fmt::format("wrote {}\n", out);
    }
    session.answer(json, text);
    return 0;
  };
}

}  // namespace cairn
