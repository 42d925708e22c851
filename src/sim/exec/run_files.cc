#include "sim/exec/run_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kerf::sim {
namespace {

using Json = nlohmann::json;

Json ScalarsJson(const std::vector<RunScalar>& scalars) {
  Json list = Json::array();
  for (const RunScalar& scalar : scalars) list.push_back({scalar.slot, scalar.bits});
  return list;
}

std::vector<RunScalar> ScalarsOf(const Json& list) {
  std::vector<RunScalar> scalars;
  for (const Json& one : list) scalars.push_back({one.at(0).get<int>(), one.at(1).get<uint64_t>()});
  return scalars;
}

std::string Hex(const std::string& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::string Unhex(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

constexpr int kKinds = static_cast<int>(FindingKind::kFault) + 1;

Finding FindingOf(const Json& json) {
  Finding finding;
  const int kind = json.at("kind").get<int>();
  finding.kind = static_cast<FindingKind>(kind >= 0 && kind < kKinds ? kind : kKinds - 1);
  finding.fatal = json.at("fatal").get<bool>();
  finding.instruction = json.at("instruction").get<std::string>();
  finding.text = json.at("text").get<std::string>();
  finding.file = json.at("file").get<std::string>();
  finding.line = json.at("line").get<uint32_t>();
  finding.core = json.at("core").get<std::string>();
  finding.count = json.at("count").get<uint64_t>();
  return finding;
}

}  // namespace

std::vector<std::string> Libraries(const RunRequest& request) {
  std::vector<std::string> libraries;
  for (const std::string* path : {&request.aic, &request.aiv[0], &request.aiv[1]}) {
    if (!path->empty() && std::find(libraries.begin(), libraries.end(), *path) == libraries.end())
      libraries.push_back(*path);
  }
  return libraries;
}

std::string WriteRunRequest(const RunRequest& request) {
  Json tensors = Json::array();
  for (const RunTensor& tensor : request.tensors) {
    tensors.push_back({{"slot", tensor.slot},
                       {"name", tensor.name},
                       {"bytes", tensor.bytes},
                       {"descriptor", Hex(tensor.descriptor)},
                       {"output", tensor.output}});
  }
  Json dispatches = Json::array();
  for (const RunDispatch& dispatch : request.dispatches) {
    dispatches.push_back(
        {{"blocks", dispatch.blocks}, {"overrides", ScalarsJson(dispatch.overrides)}});
  }
  return Json{{"a5", request.a5},
              {"record", request.record},
              {"most_instructions", request.most_instructions},
              {"lane_register", request.lane_register},
              {"block_num", request.block_num},
              {"aic", request.aic},
              {"aiv0", request.aiv[0]},
              {"aiv1", request.aiv[1]},
              {"tensors", tensors},
              {"scalars", ScalarsJson(request.scalars)},
              {"dispatches", dispatches},
              {"comm_slot", request.comm_slot}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<RunRequest> ReadRunRequest(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    RunRequest request;
    request.a5 = json.at("a5").get<bool>();
    request.record = json.at("record").get<bool>();
    request.most_instructions = json.at("most_instructions").get<uint64_t>();
    request.lane_register = json.at("lane_register").get<bool>();
    request.block_num = json.at("block_num").get<int64_t>();
    request.aic = json.at("aic").get<std::string>();
    request.aiv[0] = json.at("aiv0").get<std::string>();
    request.aiv[1] = json.at("aiv1").get<std::string>();
    request.comm_slot = json.at("comm_slot").get<int>();
    for (const Json& one : json.at("tensors")) {
      request.tensors.push_back({one.at("slot").get<int>(), one.at("name").get<std::string>(),
                                 one.at("bytes").get<uint64_t>(),
                                 Unhex(one.at("descriptor").get<std::string>()),
                                 one.at("output").get<bool>()});
    }
    request.scalars = ScalarsOf(json.at("scalars"));
    for (const Json& one : json.at("dispatches")) {
      request.dispatches.push_back(
          {one.at("blocks").get<int64_t>(), ScalarsOf(one.at("overrides"))});
    }
    return request;
  } catch (const std::exception& error) {
    return Corrupt(std::string("request.json: ") + error.what());
  }
}

std::string WriteRunResult(const RunResult& result) {
  Json findings = Json::array();
  for (const Finding& finding : result.findings) {
    findings.push_back({{"kind", static_cast<int>(finding.kind)},
                        {"fatal", finding.fatal},
                        {"instruction", finding.instruction},
                        {"text", finding.text},
                        {"file", finding.file},
                        {"line", finding.line},
                        {"core", finding.core},
                        {"count", finding.count}});
  }
  return Json{{"error", result.error},
              {"printed", result.printed},
              {"findings", findings},
              {"instructions", result.instructions},
              {"cores", result.cores},
              {"finished", result.finished},
              {"run_seconds", result.run_seconds}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<RunResult> ReadRunResult(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    RunResult result;
    result.error = json.at("error").get<std::string>();
    for (const Json& one : json.at("findings")) result.findings.push_back(FindingOf(one));
    result.printed = json.at("printed").get<std::string>();
    result.instructions = json.at("instructions").get<uint64_t>();
    result.cores = json.at("cores").get<uint64_t>();
    result.finished = json.at("finished").get<uint64_t>();
    result.run_seconds = json.at("run_seconds").get<double>();
    return result;
  } catch (const std::exception& error) {
    return Corrupt(std::string("the kernel's process left a result.json that makes no sense: ") +
                   error.what());
  }
}

}  // namespace kerf::sim
