#include "sandbox/policy.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <string_view>

namespace kerf::sandbox {
namespace {

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string LinkTarget(const std::string& path) {
  char target[256];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  return length <= 0 ? "" : std::string(target, static_cast<size_t>(length));
}

bool IsCleanAbsolute(const std::string& path) {
  if (path.size() < 2 || path[0] != '/' || path.back() == '/') return false;
  if (path.find('\0') != std::string::npos || path.find("//") != std::string::npos) return false;
  const std::string closed = path + "/";
  return closed.find("/../") == std::string::npos && closed.find("/./") == std::string::npos;
}

// Made by the sandbox itself; a bind on or above one of them would undo it.
bool IsReserved(std::string_view inside) {
  for (const std::string_view own : {"/proc", "/dev", "/tmp", "/w", "/etc/passwd", "/etc/group"}) {
    if (inside == own) return true;
  }
  return inside.substr(0, 6) == "/proc/" || inside.substr(0, 5) == "/dev/" || inside == "/etc";
}

Status CheckInside(const std::string& inside, std::set<std::string>& seen) {
  if (!IsCleanAbsolute(inside)) {
    return InvalidInput("sandbox policy: '" + inside + "' must be an absolute path without '..'");
  }
  if (IsReserved(inside)) {
    return InvalidInput("sandbox policy: " + inside + " is made by the sandbox itself");
  }
  if (!seen.insert(inside).second) {
    return InvalidInput("sandbox policy: " + inside + " is given twice");
  }
  return {};
}

Status CheckHost(const std::string& host) {
  if (host.empty() || host[0] != '/' || host.find('\0') != std::string::npos) {
    return InvalidInput("sandbox policy: '" + host + "' must be an absolute path");
  }
  return {};
}

}  // namespace

Policy Policy::ForSystemPrograms() {
  Policy policy;
  policy.Read("/usr");
  for (const char* path : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    const std::string target = LinkTarget(path);
    if (!target.empty()) {
      policy.Link(target, path);
    } else if (Exists(path)) {
      policy.Read(path);  // a distribution without the merged /usr
    }
  }
  for (const char* path : {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf",
                           "/etc/ld.so.conf.d", "/etc/localtime"}) {
    if (Exists(path)) policy.Read(path);
  }
  policy.Variable("PATH", "/usr/bin:/bin").Variable("HOME", kWorkInside);
  return policy;
}

Policy& Policy::Read(const std::string& host, const std::string& inside) {
  read_only_.push_back({host, inside});
  return *this;
}

Policy& Policy::Link(const std::string& target, const std::string& inside) {
  links_.push_back({target, inside});
  return *this;
}

Policy& Policy::WorkFolder(const std::string& host) {
  work_folder_ = host;
  return *this;
}

Policy& Policy::Variable(const std::string& name, const std::string& value) {
  environment_[name] = value;
  return *this;
}

Policy& Policy::PassVariable(const std::string& name) {
  if (const char* value = std::getenv(name.c_str())) environment_[name] = value;
  return *this;
}

Policy& Policy::Weaken(const AllowDevice& device) {
  devices_.push_back(device.path);
  return *this;
}

Policy& Policy::Weaken(const AllowWritable& writable) {
  writable_.push_back({writable.host, writable.inside});
  return *this;
}

Policy& Policy::Weaken(AllowExecFromWorkFolder) {
  exec_from_work_folder_ = true;
  return *this;
}

Policy& Policy::Weaken(AllowUserNamespaces) {
  user_namespaces_ = true;
  return *this;
}

Status Policy::Check() const {
  std::set<std::string> seen;
  for (const auto* binds : {&read_only_, &writable_}) {
    for (const Bind& bind : *binds) {
      KERF_RETURN_IF_ERROR(CheckHost(bind.host));
      KERF_RETURN_IF_ERROR(CheckInside(bind.inside, seen));
    }
  }
  for (const Symlink& link : links_) KERF_RETURN_IF_ERROR(CheckInside(link.inside, seen));
  for (const std::string& device : devices_) {
    if (!IsCleanAbsolute(device) || device.rfind("/dev/", 0) != 0) {
      return InvalidInput("sandbox policy: device '" + device + "' is not below /dev");
    }
  }
  if (!work_folder_.empty()) KERF_RETURN_IF_ERROR(CheckHost(work_folder_));
  for (const auto& [name, value] : environment_) {
    if (name.empty() || name.find_first_of(std::string("=\0", 2)) != std::string::npos ||
        value.find('\0') != std::string::npos) {
      return InvalidInput("sandbox policy: '" + name + "' cannot be an environment variable");
    }
  }
  return {};
}

}  // namespace kerf::sandbox
