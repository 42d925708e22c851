#include "synth/emit_triton_writer.h"

namespace kerf::synth {
namespace {

struct TritonHelper {
  const char* name;
  const char* text;
};

// The same polynomials as the C++ kernels' (helpers.cc).
constexpr TritonHelper kTritonHelpers[] = {
    {"max_nan", R"(@triton.jit
def max_nan(a, b):
    """The larger one; NaN wins, as in torch."""
    return tl.where((a < b) | (b != b), b, a)
)"},
    {"min_nan", R"(@triton.jit
def min_nan(a, b):
    """The smaller one; NaN wins, as in torch."""
    return tl.where((b < a) | (b != b), b, a)
)"},
    {"fmax_num", R"(@triton.jit
def fmax_num(a, b):
    """The larger one; NaN loses."""
    return tl.where((a < b) | (a != a), b, a)
)"},
    {"fmin_num", R"(@triton.jit
def fmin_num(a, b):
    """The smaller one; NaN loses."""
    return tl.where((b < a) | (a != a), b, a)
)"},
    {"row_max", R"(@triton.jit
def row_max(x):
    """The largest of each row; NaN wins."""
    return tl.where(tl.max((x != x).to(tl.int32), axis=1) != 0, NAN, tl.max(x, axis=1))
)"},
    {"row_min", R"(@triton.jit
def row_min(x):
    """The smallest of each row; NaN wins."""
    return tl.where(tl.max((x != x).to(tl.int32), axis=1) != 0, NAN, tl.min(x, axis=1))
)"},
    {"times", R"(@triton.jit
def times(a, b):
    return a * b
)"},
    {"exp_float", R"(@triton.jit
def exp_float(x):
    """e^x: 2^n * e^r with |r| <= ln(2)/2, and 2^n in two steps for the ends of the range."""
    c = tl.where(x > 89.0, 89.0, tl.where(x < -104.0, -104.0, x))
    n = tl.floor(c * 1.44269504 + 0.5)
    r = tl.fma(n, -0.693145752, c)
    r = tl.fma(n, -1.42860677e-6, r)
    p = tl.fma(r, 0.00139505193, 0.00836890867)
    p = tl.fma(p, r, 0.0416662054)
    p = tl.fma(p, r, 0.166665187)
    p = tl.fma(p, r, 0.50000001)
    p = tl.fma(p * r, r, r) + 1.0
    half = tl.floor(n * 0.5)
    return p * tl.exp2(half) * tl.exp2(n - half)
)"},
    {"expm1_float", R"(@triton.jit
def expm1_float(x):
    """e^x - 1, also where e^x is near 1."""
    c = tl.where(x > 88.8, 88.8, tl.where(x < -20.0, -20.0, x))
    n = tl.floor(c * 1.44269504 + 0.5)
    r = tl.fma(n, -0.693145752, c)
    r = tl.fma(n, -1.42860677e-6, r)
    p = tl.fma(r, 0.000199127185, 0.0013941033)
    p = tl.fma(p, r, 0.0083332757)
    p = tl.fma(p, r, 0.0416663544)
    p = tl.fma(p, r, 0.166666668)
    p = tl.fma(p, r, 0.500000005)
    p = tl.fma(p * r, r, r)
    half = tl.exp2(n - 1.0)
    return 2.0 * tl.fma(p, half, half - 0.5)
)"},
    {"log1p_float", R"(@triton.jit
def log1p_float(x):
    """ln(1 + x): what 1 + x loses is put back."""
    u = 1.0 + x
    lost = (x - (u - 1.0)) / u
    return tl.log(u) + tl.where((u > 0.0) & (u < INF), lost, 0.0)
)"},
    {"tanh_float", R"(@triton.jit
def tanh_float(x):
    """x + x^3 P(x^2) below 0.65, t / (t + 2) with t = e^(2|x|) - 1 above."""
    size = tl.abs(x)
    z = x * x
    p = tl.fma(z, 0.00205957327, -0.00808561672)
    p = tl.fma(p, z, 0.0216633984)
    p = tl.fma(p, z, -0.0539399415)
    p = tl.fma(p, z, 0.133331522)
    p = tl.fma(p, z, -0.333333294)
    near = tl.fma(p * z, x, x)
    t = exp_float(2.0 * tl.where(size > 10.0, 10.0, size)) - 1.0
    far = t / (t + 2.0)
    return tl.where(size < 0.65, near, tl.where(x < 0.0, -far, far))
)"},
    {"sigmoid_float", R"(@triton.jit
def sigmoid_float(x):
    return 1.0 / (1.0 + exp_float(-x))
)"},
    {"truncate", R"(@triton.jit
def truncate(x):
    return tl.where(x < 0, tl.ceil(x), tl.floor(x))
)"},
    {"round_float", R"(@triton.jit
def round_float(x):
    """To the nearest, ties to even: adding 1.5 * 2^23 leaves no place for a fraction."""
    return tl.where(tl.abs(x) < 4194304.0, (x + 12582912.0) - 12582912.0, x)
)"},
    {"copy_sign", R"(@triton.jit
def copy_sign(a, b):
    size = tl.abs(a)
    return tl.where((b < 0) | ((b == 0) & (1.0 / b < 0)), -size, size)
)"},
    {"pow_float", R"(@triton.jit
def pow_float(x, y):
    """x^y by way of float64, where the error of y * log2(x) does not show."""
    size = tl.exp2(y.to(tl.float64) * tl.log2(tl.abs(x).to(tl.float64))).to(tl.float32)
    whole = tl.floor(y) == y
    odd = whole & (tl.floor(y * 0.5) * 2.0 != y)
    signed = tl.where(x < 0.0, tl.where(whole, tl.where(odd, -size, size), NAN), size)
    return tl.where((y == 0.0) | (x == 1.0), 1.0, signed)
)"},
    {"floor_div_float", R"(@triton.jit
def floor_div_float(a, b):
    """Python's //: rounds down."""
    rest = a % b
    q = (a - rest) / b
    q = tl.where((rest != 0) & ((b < 0) != (rest < 0)), q - 1, q)
    whole = tl.floor(q)
    whole = tl.where(q - whole > 0.5, whole + 1, whole)
    return tl.where(b == 0, a / b, whole)
)"},
    {"py_mod_float", R"(@triton.jit
def py_mod_float(a, b):
    """Python's %: the sign of the divisor."""
    r = a % b
    return tl.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)
)"},
    {"c_mod", R"(@triton.jit
def c_mod(a, b):
    """C's %: the sign of the dividend."""
    c = tl.where(b == 0, 1, b)
    return a - (a // c) * c
)"},
    {"trunc_div", R"(@triton.jit
def trunc_div(a, b):
    return a // tl.where(b == 0, 1, b)
)"},
    {"floor_div", R"(@triton.jit
def floor_div(a, b):
    """Python's //: rounds down. Triton's rounds towards zero."""
    c = tl.where(b == 0, 1, b)
    q = a // c
    return tl.where((q * c != a) & ((a < 0) != (c < 0)), q - 1, q)
)"},
    {"py_mod", R"(@triton.jit
def py_mod(a, b):
    """Python's %: the sign of the divisor."""
    c = tl.where(b == 0, 1, b)
    r = a - (a // c) * c
    return tl.where((r != 0) & ((r < 0) != (c < 0)), r + c, r)
)"},
};

}  // namespace

std::string TritonHelperText(const std::set<std::string>& wanted) {
  std::set<std::string> all = wanted;
  if (all.count("tanh_float") > 0 || all.count("sigmoid_float") > 0) all.insert("exp_float");
  std::string text;
  for (const TritonHelper& helper : kTritonHelpers) {
    if (all.count(helper.name) > 0) text += std::string(helper.text) + "\n\n";
  }
  return text;
}

}  // namespace kerf::synth
