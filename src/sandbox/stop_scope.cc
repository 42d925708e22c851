#include "sandbox/stop_scope.h"

#include <utility>

namespace kerf::sandbox {
namespace {

thread_local std::stop_token current;

}  // namespace

StopScope::StopScope(std::stop_token token) : before_(std::exchange(current, std::move(token))) {}

StopScope::~StopScope() { current = std::move(before_); }

std::stop_token StopScope::Current() { return current; }

}  // namespace kerf::sandbox
