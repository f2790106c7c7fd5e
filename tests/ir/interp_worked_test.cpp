// The worked programs against plain references written here, in f64 and in their own dtypes.
#include <cmath>
#include <functional>
#include <limits>

#include "base/rng.h"
#include "ir/interp_run.h"
#include "support/leir_files.h"

namespace cairn {
namespace {

using Values = std::map<std::string, std::vector<double>>;

// Row-major element of a flat array.
double at(const std::vector<double>& v, std::initializer_list<std::pair<int, int>> index) {
  std::size_t offset = 0;
  for (const auto& [i, extent] : index) offset = offset * static_cast<std::size_t>(extent) + static_cast<std::size_t>(i);
  return v[offset];
}
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<double> matmul(const std::vector<double>& a, const std::vector<double>& c, int m, int k, int n) {
  std::vector<double> d(static_cast<std::size_t>(m * n), 0);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int r = 0; r < k; ++r) d[static_cast<std::size_t>(i * n + j)] += at(a, {{i, m}, {r, k}}) * at(c, {{r, k}, {j, n}});
    }
  }
  return d;
}

struct Moments {
  double mean = 0, variance = 0;
};
Moments moments(const double* x, int n) {
  Moments m;
  for (int i = 0; i < n; ++i) m.mean += x[i] / n;
  for (int i = 0; i < n; ++i) m.variance += (x[i] - m.mean) * (x[i] - m.mean) / n;
  return m;
}

Values softmax(const Values& in) {
  std::vector<double> out = in.at("A");
  for (std::size_t row = 0; row < 8; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < 100; ++i) sum += std::exp(out[row * 100 + i]);
    for (std::size_t i = 0; i < 100; ++i) out[row * 100 + i] = std::exp(out[row * 100 + i]) / sum;
  }
  return {{"C", out}};
}

Values attention(const Values& in) {
  std::vector<double> d;
  for (int h = 0; h < 2; ++h) {
    for (int q = 0; q < 64; ++q) {
      std::vector<double> weight(64, 0), row(32, 0);
      double sum = 0;
      for (int k = 0; k <= q; ++k) {
        double score = 0;
        for (int e = 0; e < 32; ++e) score += at(in.at("A"), {{h, 2}, {q, 64}, {e, 32}}) * at(in.at("C"), {{h, 2}, {k, 64}, {e, 32}});
        weight[static_cast<std::size_t>(k)] = std::exp(score / std::sqrt(32.0));
        sum += weight[static_cast<std::size_t>(k)];
      }
      for (int e = 0; e < 32; ++e) {
        for (int k = 0; k <= q; ++k) row[static_cast<std::size_t>(e)] += weight[static_cast<std::size_t>(k)] * at(in.at("G"), {{h, 2}, {k, 64}, {e, 32}});
        d.push_back(row[static_cast<std::size_t>(e)] / sum);
      }
    }
  }
  return {{"D", d}};
}

Values layernorm(const Values& in) {
  std::vector<double> c;
  for (std::size_t row = 0; row < 8; ++row) {
    const Moments m = moments(&in.at("A")[row * 100], 100);
    for (std::size_t i = 0; i < 100; ++i) {
      c.push_back((in.at("A")[row * 100 + i] - m.mean) / std::sqrt(m.variance + 1e-5) * in.at("G")[i] + in.at("H")[i]);
    }
  }
  return {{"C", c}};
}

Values welford(const Values& in) {
  std::vector<double> c, g;
  for (std::size_t row = 0; row < 8; ++row) {
    const Moments m = moments(&in.at("A")[row * 100], 100);
    c.push_back(m.mean);
    g.push_back(m.variance);
  }
  return {{"C", c}, {"G", g}};
}

Values batchnorm(const Values& in) {
  std::vector<double> d(4 * 3 * 64), u;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    std::vector<double> x;
    for (std::size_t n = 0; n < 4; ++n) {
      for (std::size_t i = 0; i < 64; ++i) x.push_back(in.at("A")[(n * 3 + channel) * 64 + i]);
    }
    const Moments m = moments(x.data(), 256);
    for (std::size_t n = 0; n < 4; ++n) {
      for (std::size_t i = 0; i < 64; ++i) {
        const std::size_t o = (n * 3 + channel) * 64 + i;
        d[o] = (in.at("A")[o] - m.mean) / std::sqrt(m.variance + 1e-5) * in.at("W")[channel] + in.at("X")[channel];
      }
    }
    u.push_back(0.9 * in.at("U")[channel] + 0.1 * m.mean);
  }
  return {{"D", d}, {"U", u}};
}

Values conv2d(const Values& in) {
  std::vector<double> d;
  for (int n = 0; n < 2; ++n) {
    for (int o = 0; o < 8; ++o) {
      for (int y = 0; y < 5; ++y) {
        for (int x = 0; x < 5; ++x) {
          double sum = 0;
          for (int c = 0; c < 4; ++c) {
            for (int r = 0; r < 3; ++r) {
              for (int s = 0; s < 3; ++s) {
                const int h = y * 2 + r - 1, w = x * 2 + s - 1;
                if (h < 0 || h >= 9 || w < 0 || w >= 9) continue;
                sum += at(in.at("A"), {{n, 2}, {c, 4}, {h, 9}, {w, 9}}) * at(in.at("C"), {{o, 8}, {c, 4}, {r, 3}, {s, 3}});
              }
            }
          }
          d.push_back(sum);
        }
      }
    }
  }
  return {{"D", d}};
}

Values conv_transposed(const Values& in) {
  std::vector<double> d(3 * 13, 0);
  for (int c = 0; c < 4; ++c) {
    for (int x = 0; x < 7; ++x) {
      for (int o = 0; o < 3; ++o) {
        for (int r = 0; r < 3; ++r) {
          const int y = x * 2 + r - 1;  // every input is scattered over its outputs
          if (y >= 0 && y < 13) d[static_cast<std::size_t>(o * 13 + y)] += at(in.at("A"), {{c, 4}, {x, 7}}) * at(in.at("C"), {{c, 4}, {o, 3}, {r, 3}});
        }
      }
    }
  }
  return {{"D", d}};
}

Values cumsum(const Values& in) {
  std::vector<double> c = in.at("A");
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (i % 192 != 0) c[i] += c[i - 1];
  }
  return {{"C", c}};
}

Values maxpool(const Values& in) {
  std::vector<double> c, d;
  for (int plane = 0; plane < 6; ++plane) {
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 4; ++x) {
        double best = -std::numeric_limits<double>::infinity();
        int index = -1;
        for (int h = y * 2 - 1; h <= y * 2 + 1; ++h) {
          for (int w = x * 2 - 1; w <= x * 2 + 1; ++w) {
            if (h < 0 || h >= 8 || w < 0 || w >= 8) continue;
            const double v = at(in.at("A"), {{plane, 6}, {h, 8}, {w, 8}});
            if (!(v > best)) continue;
            best = v;
            index = h * 8 + w;
          }
        }
        c.push_back(best);
        d.push_back(index);
      }
    }
  }
  return {{"C", c}, {"D", d}};
}

Values argmax(const Values& in) {
  std::vector<double> c;
  for (std::size_t row = 0; row < 8; ++row) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < 100; ++i) {
      if (in.at("A")[row * 100 + i] > in.at("A")[row * 100 + best]) best = i;
    }
    c.push_back(static_cast<double>(best));
  }
  return {{"C", c}};
}

Values cross_entropy(const Values& in) {
  double sum = 0, count = 0;
  for (std::size_t row = 0; row < 6; ++row) {
    if (in.at("C")[row] == -100) continue;
    double z = 0;
    for (std::size_t i = 0; i < 10; ++i) z += std::exp(in.at("A")[row * 10 + i]);
    sum += std::log(z) - in.at("A")[row * 10 + static_cast<std::size_t>(in.at("C")[row])];
    count += 1;
  }
  return {{"D", {sum / count}}};
}

Values lstm(const Values& in) {
  std::vector<double> d;
  std::vector<double> h(16, 0), c(16, 0);
  for (int t = 0; t < 6; ++t) {
    const std::vector<double> last = h;
    for (int b = 0; b < 2; ++b) {
      const auto gate = [&](int g) {
        double sum = in.at("R")[static_cast<std::size_t>(g)];
        for (int k = 0; k < 4; ++k) sum += at(in.at("X"), {{t, 6}, {b, 2}, {k, 4}}) * at(in.at("W"), {{g, 32}, {k, 4}});
        for (int k = 0; k < 8; ++k) sum += last[static_cast<std::size_t>(b * 8 + k)] * at(in.at("U"), {{g, 32}, {k, 8}});
        return sum;
      };
      for (int k = 0; k < 8; ++k) {
        const auto o = static_cast<std::size_t>(b * 8 + k);
        c[o] = sigmoid(gate(k + 8)) * c[o] + sigmoid(gate(k)) * std::tanh(gate(k + 16));
        h[o] = sigmoid(gate(k + 24)) * std::tanh(c[o]);
      }
    }
    d.insert(d.end(), h.begin(), h.end());
  }
  return {{"D", d}};
}

Values concat_split(const Values& in) {
  std::vector<double> d, f, g;
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t c = 0; c < 14; ++c) d.push_back(c < 8 ? in.at("A")[a * 8 + c] : in.at("C")[a * 6 + c - 8]);
    f.insert(f.end(), d.end() - 14, d.end() - 7);
    g.insert(g.end(), d.end() - 7, d.end());
  }
  return {{"D", d}, {"E", d}, {"F", f}, {"G", g}};
}

Values small_semantics(const Values& in) {
  std::vector<double> d = matmul(in.at("A"), in.at("C"), 8, 6, 4), e, f, g;
  for (std::size_t i = 0; i < d.size(); ++i) d[i] += in.at("W")[i % 4];
  for (std::size_t i = 0; i < 8; ++i) {
    double sum = i < 4 ? 2.5 : 0;
    std::size_t first = 6;
    for (std::size_t k = 0; k < 6; ++k) {
      sum += in.at("A")[i * 6 + k] - 1;
      if (in.at("A")[i * 6 + k] < 0 && first == 6) first = k;
    }
    e.push_back(sum);
    f.push_back(static_cast<double>(first));
    g.push_back(in.at("G")[std::min<std::size_t>(i + 1, 7)] * 2);
  }
  return {{"D", d}, {"E", e}, {"F", f}, {"G", g}};
}

struct Case {
  const char* file;
  std::function<Values(const Values&)> reference;
  double tolerance;  // of the run in the program's own dtypes
};

TEST(interp_worked, agrees_with_plain_references) {
  const auto gemm = [](int m, int k, int n) {
    return [m, k, n](const Values& in) { return Values{{"D", matmul(in.at("A"), in.at("C"), m, k, n)}}; };
  };
  const std::vector<Case> cases{{"worked_a_gemm_tiled", gemm(28, 32, 28), 1e-5},
                                {"worked_b_gemm_mma", gemm(120, 32, 32), 1e-5},
                                {"worked_c_softmax", softmax, 1e-6},
                                {"worked_d_flash_attention", attention, 2e-3},
                                {"worked_e_layernorm", layernorm, 1e-5},
                                {"worked_e_welford", welford, 1e-5},
                                {"worked_f_batchnorm", batchnorm, 1e-5},
                                {"worked_g_conv2d_gemm", conv2d, 1e-5},
                                {"worked_g_conv_transposed", conv_transposed, 1e-5},
                                {"worked_h_cumsum", cumsum, 1e-4},
                                {"worked_i_argmax", argmax, 0},
                                {"worked_j_maxpool_indices", maxpool, 0},
                                {"worked_k_cross_entropy", cross_entropy, 1e-6},
                                {"worked_l_split_k", gemm(16, 64, 16), 1e-5},
                                {"worked_m_lstm", lstm, 1e-5},
                                {"worked_n_concat_split", concat_split, 0},
                                {"worked_o_small_semantics", small_semantics, 1e-5},
                                {"worked_p_cpu_gemm", gemm(8, 16, 64), 1e-5}};
  std::map<std::string, std::string> texts;
  for (const LeirFile& file : load_leir_files("ok")) texts[file.name] = file.text;
  for (const Case& one : cases) {
    ASSERT_TRUE(texts.contains(one.file)) << one.file;
    const Program p = testing::parse_ok(texts[one.file]);
    ValueMap inputs;
    Values plain;
    for (const Tensor& t : p.tensors()) {
      if (t.role == Role::out || t.role == Role::tmp) continue;
      Value v = Value::zeros(t.dtype, *t.shape);
      Rng rng = Rng(17).split(t.name);
      for (double& x : v.floats) x = round_to(t.dtype, rng.normal());
      for (std::int64_t& x : v.ints) x = rng.below(4) == 0 ? -100 : static_cast<std::int64_t>(rng.below(10));
      plain[t.name] = v.floats.empty() ? std::vector<double>(v.ints.begin(), v.ints.end()) : v.floats;
      inputs.emplace(t.name, std::move(v));
    }
    const Values expected = one.reference(plain);
    for (const bool in_f64 : {true, false}) {
      InterpOptions options;
      options.in_f64 = in_f64;
      const Result<ValueMap> got = interpret(p, inputs, options);
      ASSERT_TRUE(got.ok()) << one.file << render(got.error());
      for (const auto& [name, values] : expected) {
        const Value& v = got->at(name);
        const std::vector<double> mine = v.floats.empty() ? std::vector<double>(v.ints.begin(), v.ints.end()) : v.floats;
        ASSERT_EQ(mine.size(), values.size()) << one.file << " " << name;
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double tolerance = (in_f64 ? 1e-12 : one.tolerance) * std::max(1.0, std::fabs(values[i])) * 4;
          ASSERT_NEAR(mine[i], values[i], tolerance) << one.file << " " << name << " element " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace cairn
