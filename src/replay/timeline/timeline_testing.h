// A small sound simulator directory, and its parts for tests that spoil them.
#pragma once

#include <map>
#include <string>

namespace kerf::timeline {

inline std::string Block(uint8_t type, const std::string& payload, uint8_t version = 0x5A,
                         const std::string& path = "") {
  const uint8_t padding = static_cast<uint8_t>((4 - payload.size() % 4) % 4);
  const uint64_t size = payload.size() + padding;
  std::string bytes(reinterpret_cast<const char*>(&size), 8);
  bytes += static_cast<char>(type);
  bytes += static_cast<char>(padding);
  bytes += static_cast<char>(version);
  bytes += '\x5A';
  if (type == 1) bytes += path + std::string(4096 - path.size(), '\0');
  return bytes + payload + std::string(padding, '\0');
}

inline const std::string kTraceText =
    R"({"displayTimeUnit":"ns","profilingType":"op","schemaVersion":2,"traceEvents":[
{"args":{"sort_index":2},"name":"process_sort_index","ph":"M","pid":"core0.veccore0","tid":"NA"},
{"args":{"code":"/k/add.cpp:3","detail":"XD:X1,","pc_addr":"0x10"},"cname":"startup","dur":1.0,"name":"MOV","ph":"X","pid":"core0.veccore0","tid":"SCALAR","ts":0.0},
{"args":{"code":"/k/add.cpp:4\n/k/x.h:1","detail":"{a}","pc_addr":"0x14"},"cname":"x","dur":2.0,"name":"LOAD","ph":"X","pid":"core0.veccore0","tid":"MTE2","ts":1.0},
{"args":{"code":"/k/add.cpp:4","detail":"","pc_addr":"0x18"},"cname":"x","dur":2.5,"name":"LOAD","ph":"X","pid":"core0.veccore0","tid":"MTE2","ts":2.0},
{"args":{"code":"","detail":"","pc_addr":"0x20"},"cname":"black","id":"core0.veccore0_0","name":"SET_FLAG","ph":"B","pid":"core0.veccore0","tid":"MTE2","ts":4.5},
{"args":{},"cname":"black","id":"core0.veccore0_0","name":"SET_FLAG","ph":"E","pid":"core0.veccore0","tid":"MTE2","ts":4.6},
{"args":{"code":"","detail":"","pc_addr":"0x24"},"cname":"yellow","id":"core0.veccore0_0","name":"WAIT_FLAG","ph":"B","pid":"core0.veccore0","tid":"VECTOR","ts":1.0},
{"args":{},"cname":"yellow","id":"core0.veccore0_0","name":"WAIT_FLAG","ph":"E","pid":"core0.veccore0","tid":"VECTOR","ts":4.7},
{"cat":"MTE2ToVECTOR","id":"core0.veccore0_0","name":"flow","ph":"s","pid":"core0.veccore0","tid":"MTE2","ts":4.6},
{"cat":"MTE2ToVECTOR","id":"core0.veccore0_0","name":"flow","ph":"t","pid":"core0.veccore0","tid":"VECTOR","ts":4.7}]})";

inline const std::string kFileApi =
    R"({"Cores":["core0.veccore0"],"Files":[{"Source":"/k/add.cpp","Lines":[{"Line":3,"Address Range":[["0x10","0x10"]],"Cycles":[12],"Instructions Executed":[2],"GPR Count":[1],"Process Bytes":[-1]}]}]})";
inline const std::string kInstrApi =
    R"({"Cores":["core0.veccore0"],"Instructions":[{"Address":"0x10","Source":"MOV","Pipe":"SCALAR","Instructions Executed":[1],"Cycles":[12],"GPR Count":[1],"Process Bytes":[-1]}]})";
inline const std::string kCoreTrace =
    R"({"displayTimeUnit":"ns","profilingType":"op","schemaVersion":1,"traceEvents":[
{"args":{"name":"MTE2"},"name":"process_name","ph":"M","pid":60,"tid":0},
{"args":{"code":"","detail":"","pc_addr":"0x14"},"cname":"x","dur":2.0,"name":"LOAD","ph":"X","pid":60,"tid":1,"ts":1.0}]})";
inline const std::string kInstrCsv =
    "instr,addr,pipe,call_count,cycles,running_time(us),detail\nLOAD,20,MTE2,2,400,2.000000,\"a, "
    "\"b\"\"\nMOV,16,SCALAR,1,12,0.010000,\"\"\n";
inline const std::string kCodeCsv =
    "code,call_count,cycles,running_time(us)\n/k/a,dd.cpp:3,1,12,0.010000\n";

inline std::map<std::string, std::string> SoundDir() {
  return {{"trace.json", kTraceText},
          {"visualize_data.bin", Block(2, kTraceText) + Block(1, "int x;", 0x5A, "/k/add.cpp") +
                                     Block(3, kFileApi) + Block(4, kInstrApi, 0)},
          {"core0.veccore0/trace.json", kCoreTrace},
          {"core0.veccore0/core0.veccore0_instr_exe_20260101000000000.csv", kInstrCsv},
          {"core0.veccore0/core0.veccore0_code_exe_20260101000000000.csv", kCodeCsv}};
}

inline std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  return at == std::string::npos ? "<" + what + " is not there>"
                                 : text.replace(at, what.size(), with);
}

}  // namespace kerf::timeline
