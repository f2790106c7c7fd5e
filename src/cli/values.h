// Tensor values between .safetensors files and the interpreter's form.
#pragma once
#include <map>
#include <string>

#include "base/hash.h"
#include "base/safetensors.h"
#include "ir/interp.h"

namespace cairn {

// Digest of dtype, shape and bytes: what a `const` tensor adds to its program's hash.
Digest digest_tensor(const TensorData& data);
// Decodes every tensor; refuses dtypes that LEIR does not have, naming file and tensor.
Result<ValueMap> values_of(const std::map<std::string, TensorData>& tensors, const std::string& file);
// Encodes; floats are rounded to their dtype.
Result<std::map<std::string, TensorData>> tensors_of(const ValueMap& values);

}  // namespace cairn
