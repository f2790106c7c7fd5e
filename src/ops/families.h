// The operator families: each file lists its rows of the table.
#pragma once
#include <span>

#include "ops/call.h"

namespace cairn {

std::span<const OpEntry> pointwise_ops();     // one operand: exp, sqrt, floor ...
std::span<const OpEntry> activation_ops();    // relu, gelu, softplus ...
std::span<const OpEntry> arithmetic_ops();    // add, mul, div, pow ... with broadcasting
std::span<const OpEntry> comparison_ops();    // comparisons, logical operators, where, masked_fill
std::span<const OpEntry> contraction_ops();   // mm, bmm, matmul, linear, addmm ...
std::span<const OpEntry> einsum_ops();
std::span<const OpEntry> reduction_ops();     // sum, mean, amax ... var, norms, any, all
std::span<const OpEntry> arg_reduction_ops(); // argmax, argmin, max.dim, min.dim
std::span<const OpEntry> softmax_ops();       // softmax, log_softmax, logsumexp
std::span<const OpEntry> norm_ops();          // layer_norm, rms_norm, group_norm, batch_norm
std::span<const OpEntry> view_ops();          // view, permute, expand, slice, select ...
std::span<const OpEntry> concat_ops();        // cat, stack, split, chunk, unbind, repeat, pad
std::span<const OpEntry> constant_ops();      // full, zeros, arange ...
std::span<const OpEntry> scan_ops();          // cumsum, cumprod
std::span<const OpEntry> index_ops();         // embedding, gather, index_select, index
std::span<const OpEntry> attention_ops();     // scaled_dot_product_attention
std::span<const OpEntry> conversion_ops();    // _to_copy, clone, dropout with p = 0

}  // namespace cairn
