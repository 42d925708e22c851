// Reads dumps of kernel arguments, in the three formats of docs/formats/dump.md, from a folder or
// from its known subfolder. Checks the form, not the truth: dump_check.h does that.
#pragma once

#include <string>
#include <string_view>

#include "artifact/dump.h"
#include "base/file_system.h"

namespace kerf::dump {

// The JSON alone; `file` is for messages. Payload ranges are not compared with any file yet.
Result<Dump> ParseDump(DumpFormat format, const std::string& file, std::string_view text);

// Finds kernel_args_dump.json, args_dump.json or tensor_dump.json (in that order) in `dir` or in
// its subfolders tensor_dump/ and args_dump/, reads it and looks at its payload file. kNotFound
// names every place it looked.
Result<Dump> ReadDump(FileSystem& fs, const std::string& dir);

}  // namespace kerf::dump
