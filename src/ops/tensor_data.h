// Between the interpreter's values and the raw tensors of safetensors files.
#pragma once
#include "base/hash.h"
#include "base/safetensors.h"
#include "ir/interp.h"

namespace cairn {

// The safetensors name of a dtype ("F32"), or empty where the format has none.
std::string_view safetensors_name(Dtype dtype);
// Decodes; refuses dtypes that LEIR does not have and byte counts that do not fit. `path` is for messages.
Result<Value> value_of_tensor(const TensorData& tensor, const std::string& path);
// Encodes; floats must be representable in value.dtype (the interpreter's are).
Result<TensorData> tensor_of_value(const Value& value);
// Digest of dtype, shape and bytes: what a const tensor adds to the program's hash.
Digest tensor_digest(const TensorData& tensor);

}  // namespace cairn
