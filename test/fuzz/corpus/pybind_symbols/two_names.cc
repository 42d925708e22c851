#include <torch/extension.h>
torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.scalar_type() == torch::kFloat32, "float32 only");
  auto y = torch::empty_like(x);
  const float* in = x.data_ptr<float>();
  float* out = y.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = (in[i] > 0 ? in[i] : 0) * 2 + 1;
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("foo", &forward); m.def("bar", &forward, "relu"); }
