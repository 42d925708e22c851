// Between the numbers people and dumps write and the 64 bits of a scalar slot.
//
// A slot holds the value's own bytes, zero-extended: INT32 -1 is 0x00000000FFFFFFFF, FLOAT32 1.0 is
// 0x3F800000. Nothing is cut silently: a value its type cannot hold is an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "artifact/kernel_args.h"
#include "base/json_place.h"

namespace kerf {

// Rounded to nearest even. nullopt when a finite value becomes infinite, and for types that are not
// floating point. Small values may become zero.
std::optional<uint64_t> FloatBits(ArgType type, double value);
// The value behind bits of a floating-point type.
double FloatOf(ArgType type, uint64_t bits);

// A JSON value as a value of the type: numbers, true and false for BOOL, and for floats the texts
// "NaN", "Infinity", "-Infinity", "$Inf", "-$Inf".
Result<uint64_t> EncodeScalar(ArgType type, const JsonPlace& value);
// "0x3e000000" or a whole number, at most as wide as the type.
Result<uint64_t> EncodeRawBits(ArgType type, const JsonPlace& value);

// A JSON literal that EncodeScalar() turns into these bits again; nullopt when there is none (bits
// beyond the type's width, a NaN with a payload).
std::optional<std::string> ScalarLiteral(ArgType type, uint64_t bits);

// For people: "0.125", "-1", "true"; the bits in hex when there is no literal.
std::string ScalarText(const ScalarArg& scalar);

}  // namespace kerf
