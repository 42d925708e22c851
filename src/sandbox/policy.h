// What a program in the sandbox may see. It starts with nothing: no files, no environment, no
// devices beyond /dev/null and its kind. There is no way to let in the network.
//
//   Policy policy = Policy::ForSystemPrograms();
//   policy.Read(build_dir, "/candidate").WorkFolder(dir).Variable("OMP_NUM_THREADS", "2");
//   policy.Weaken(AllowDevice{"/dev/nvidia0"});
//
// Inside, the work folder is /w and the current directory; /tmp and /dev/shm are private, in
// memory and limited; everything else is read-only. What can be written cannot be executed:
// candidates are compiled outside and come in through Read(). That is hygiene, not a wall: a
// program can still map anonymous executable memory, and gains nothing by it.
//
// Where the caller is root, the program runs as nobody: what Read() names must be readable for
// everybody (the folders above it need not be).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace kerf::sandbox {

// Each Allow… type weakens the sandbox. They are types so that a reviewer finds every use by name.

// The program may open this device node, talk to its driver and reach whatever the driver can: a
// bug in the driver is a way into the kernel, and memory of other users of the device may leak.
struct AllowDevice {
  std::string path;  // the same inside and outside
};

// The program may change, fill and delete everything below `host`, and leave traps there (links,
// FIFOs) for whoever reads it afterwards.
struct AllowWritable {
  std::string host;
  std::string inside;
};

// The program may execute and load what it wrote into the work folder: what ran is then no longer
// what kerf compiled and hashed. For tool chains that build and load inside (Triton, inductor).
struct AllowExecFromWorkFolder {};

// The program may make user namespaces and gets every capability inside them: much more of the
// kernel can be attacked. For programs that bring a sandbox of their own.
struct AllowUserNamespaces {};

struct Bind {
  std::string host;
  std::string inside;
};

struct Symlink {
  std::string target;
  std::string inside;
};

class Policy {
 public:
  // An empty view: only a static program could run in it.
  Policy() = default;
  // The distribution's programs and libraries: /usr and the links to it, the dynamic linker's
  // cache, PATH and HOME. Nothing of /etc that tells about the machine's users.
  static Policy ForSystemPrograms();

  // A file or folder, with all below it, read-only.
  Policy& Read(const std::string& path) { return Read(path, path); }
  Policy& Read(const std::string& host, const std::string& inside);
  Policy& Link(const std::string& target, const std::string& inside);
  // The one writable folder. What the program leaves there belongs to the caller.
  Policy& WorkFolder(const std::string& host);
  Policy& Variable(const std::string& name, const std::string& value);
  // Copies the caller's value; nothing when it is unset. The value is then the program's to print.
  Policy& PassVariable(const std::string& name);

  Policy& Weaken(const AllowDevice& device);
  Policy& Weaken(const AllowWritable& writable);
  Policy& Weaken(AllowExecFromWorkFolder);
  Policy& Weaken(AllowUserNamespaces);

  // Paths absolute and without "..", nothing mounted twice, no NUL anywhere.
  [[nodiscard]] Status Check() const;

  [[nodiscard]] const std::vector<Bind>& read_only() const { return read_only_; }
  [[nodiscard]] const std::vector<Bind>& writable() const { return writable_; }
  [[nodiscard]] const std::vector<Symlink>& links() const { return links_; }
  [[nodiscard]] const std::vector<std::string>& devices() const { return devices_; }
  [[nodiscard]] const std::string& work_folder() const { return work_folder_; }
  [[nodiscard]] const std::map<std::string, std::string>& environment() const {
    return environment_;
  }
  [[nodiscard]] bool exec_from_work_folder() const { return exec_from_work_folder_; }
  [[nodiscard]] bool user_namespaces() const { return user_namespaces_; }

 private:
  std::vector<Bind> read_only_;
  std::vector<Bind> writable_;  // by AllowWritable; without the work folder
  std::vector<Symlink> links_;
  std::vector<std::string> devices_;
  std::string work_folder_;
  std::map<std::string, std::string> environment_;
  bool exec_from_work_folder_ = false;
  bool user_namespaces_ = false;
};

constexpr const char* kWorkInside = "/w";

}  // namespace kerf::sandbox
