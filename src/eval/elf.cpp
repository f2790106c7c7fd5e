#include "eval/elf.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <dlfcn.h>
#include <elf.h>
#include <fmt/core.h>

namespace cairn {

namespace {
Error bad_object(const std::string& what) { return {Code::compile, "not a shared object: " + what, {}, {}}; }

template <class T>
bool read_at(std::string_view bytes, std::uint64_t offset, T* out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(out, bytes.data() + offset, sizeof(T));
  return true;
}

std::string text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

std::string_view section_bytes(std::string_view bytes, const Elf64_Shdr& section) {
  if (section.sh_offset > bytes.size() || bytes.size() - section.sh_offset < section.sh_size) return {};
  return bytes.substr(section.sh_offset, section.sh_size);
}

void read_symbols(std::string_view symbols, std::string_view names, ObjectFacts& facts) {
  Elf64_Sym symbol;
  for (std::uint64_t at = 0; read_at(symbols, at, &symbol); at += sizeof symbol) {
    const std::string name = text_at(names, symbol.st_name);
    if (name.empty() || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
    (symbol.st_shndx == SHN_UNDEF ? facts.imports : facts.exports).push_back(name);
  }
}

void read_dynamic(std::string_view entries, std::string_view names, ObjectFacts& facts) {
  Elf64_Dyn entry;
  for (std::uint64_t at = 0; read_at(entries, at, &entry) && entry.d_tag != DT_NULL; at += sizeof entry) {
    if (entry.d_tag == DT_NEEDED) facts.libraries.push_back(text_at(names, entry.d_un.d_val));
    if (entry.d_tag == DT_INIT_ARRAYSZ) facts.initializers += entry.d_un.d_val / sizeof(void*);
    if (entry.d_tag == DT_PREINIT_ARRAYSZ) facts.initializers += entry.d_un.d_val / sizeof(void*);
  }
}

// What generated C may call: memory, arithmetic, OpenMP, and what compiler and linker add by themselves.
constexpr std::array<std::string_view, 98> kAllowed = {
    "malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign", "memcpy", "memset", "memmove", "memcmp",
    "abort", "__stack_chk_fail", "__cxa_finalize", "__gmon_start__", "_ITM_registerTMCloneTable",
    "_ITM_deregisterTMCloneTable", "__assert_fail", "omp_get_thread_num", "omp_get_num_threads", "omp_get_max_threads",
    "omp_in_parallel", "omp_get_level", "exp", "expf", "exp2", "exp2f", "expm1", "expm1f", "log", "logf", "log2",
    "log2f", "log10", "log10f", "log1p", "log1pf", "pow", "powf", "sqrt", "sqrtf", "erf", "erff", "erfc", "erfcf",
    "tanh", "tanhf", "sin", "sinf", "cos", "cosf", "sincos", "sincosf", "tan", "tanf", "atan", "atanf", "sinh", "sinhf",
    "cosh", "coshf", "floor", "floorf", "ceil", "ceilf", "round", "roundf", "rint", "rintf", "nearbyint", "nearbyintf",
    "trunc", "truncf", "fabs", "fabsf", "fmax", "fmaxf", "fmin", "fminf", "fmod", "fmodf", "fma", "fmaf", "ldexp",
    "ldexpf", "frexp", "frexpf", "scalbn", "scalbnf", "lrint", "lrintf", "llrint", "llrintf", "cbrt", "cbrtf", "modf",
    "modff", "copysign", "copysignf"};

bool is_allowed_import(std::string_view name) {
  if (name.substr(0, 5) == "GOMP_") return true;
  // Conversions that the processor has no instruction for, e.g. __extendhfsf2, __truncdfbf2.
  for (const std::string_view start : {"__extend", "__trunc", "__fix", "__float", "__mul", "__div", "__udiv", "__mod"}) {
    if (name.substr(0, start.size()) == start) return true;
  }
  return std::find(kAllowed.begin(), kAllowed.end(), name) != kAllowed.end();
}
}  // namespace

Result<ObjectFacts> read_object(std::string_view bytes) {
  Elf64_Ehdr header;
  if (!read_at(bytes, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return bad_object("no ELF header");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN || header.e_shentsize != sizeof(Elf64_Shdr)) {
    return bad_object("an ELF file of another kind");
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!read_at(bytes, header.e_shoff + i * sizeof(Elf64_Shdr), &sections[i])) return bad_object("sections outside the file");
  }
  ObjectFacts facts;
  bool has_symbols = false;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_DYNAMIC) continue;
    if (section.sh_link >= sections.size()) return bad_object("a table without names");
    const std::string_view names = section_bytes(bytes, sections[section.sh_link]);
    const std::string_view table = section_bytes(bytes, section);
    if (section.sh_type == SHT_DYNSYM) {
      has_symbols = true;
      read_symbols(table, names, facts);
    } else {
      read_dynamic(table, names, facts);
    }
  }
  if (!has_symbols) return bad_object("no dynamic symbols");
  for (auto* list : {&facts.imports, &facts.exports, &facts.libraries}) std::sort(list->begin(), list->end());
  return facts;
}

Result<void> check_object(const ObjectFacts& facts, const std::string& entry) {
  const auto refuse = [](std::string message) { return Error{Code::compile, std::move(message), {}, {}}; };
  if (std::find(facts.exports.begin(), facts.exports.end(), entry) == facts.exports.end()) {
    return refuse(fmt::format("the object does not define {}", entry));
  }
  for (const std::string& name : facts.imports) {
    if (!is_allowed_import(name)) {
      return refuse(fmt::format("calls {}, expected only memory, arithmetic and OpenMP functions", name));
    }
  }
  for (const std::string& name : facts.exports) {
    if (name != entry && ::dlsym(RTLD_DEFAULT, name.c_str()) != nullptr) {
      return refuse(fmt::format("defines {}, which a system library defines", name));
    }
  }
  if (facts.initializers > 1) {
    return refuse(fmt::format("runs {} functions on loading, expected none of its own", facts.initializers - 1));
  }
  return {};
}

}  // namespace cairn
