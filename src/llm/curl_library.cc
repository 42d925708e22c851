#include "llm/curl_library.h"

#include <dlfcn.h>

#include <string>

namespace kerf::llm {
namespace {

template <typename Function>
void Find(void* library, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr && missing.empty()) missing = name;
}

}  // namespace

Result<CurlLibrary> CurlLibrary::Load() {
  void* library = nullptr;
  std::string why;
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    if (why.empty()) why = ::dlerror();
  }
  if (library == nullptr) {
    return Unavailable("libcurl is needed to reach a model's endpoint and is not here (" + why +
                       "); install it with: apt-get install libcurl4");
  }
  CurlLibrary curl;
  std::string missing;
  Find(library, "curl_global_init", curl.global_init, missing);
  Find(library, "curl_version_info", curl.version_info, missing);
  Find(library, "curl_easy_init", curl.easy_init, missing);
  Find(library, "curl_easy_cleanup", curl.easy_cleanup, missing);
  Find(library, "curl_easy_setopt", curl.easy_setopt, missing);
  Find(library, "curl_easy_getinfo", curl.easy_getinfo, missing);
  Find(library, "curl_easy_strerror", curl.easy_strerror, missing);
  Find(library, "curl_slist_append", curl.slist_append, missing);
  Find(library, "curl_slist_free_all", curl.slist_free_all, missing);
  Find(library, "curl_multi_init", curl.multi_init, missing);
  Find(library, "curl_multi_cleanup", curl.multi_cleanup, missing);
  Find(library, "curl_multi_setopt", curl.multi_setopt, missing);
  Find(library, "curl_multi_add_handle", curl.multi_add_handle, missing);
  Find(library, "curl_multi_remove_handle", curl.multi_remove_handle, missing);
  Find(library, "curl_multi_perform", curl.multi_perform, missing);
  Find(library, "curl_multi_poll", curl.multi_poll, missing);
  Find(library, "curl_multi_wakeup", curl.multi_wakeup, missing);
  Find(library, "curl_multi_info_read", curl.multi_info_read, missing);
  if (!missing.empty()) {
    return Unavailable("libcurl here lacks " + missing + "; version 7.68 or later is needed");
  }
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Unavailable("libcurl does not start");
  }
  return curl;
}

}  // namespace kerf::llm
