// Shared memory. The rewriter turns
//   __shared__ float tile[16][17];        into a reference to the block's memory, of the same type
//   extern __shared__ float dyn[];        into a reference to an array of unknown bound
//   tile[y][x] = v;  v = tile[y][x];      into W(tile, "tile")[y][x] = v;  v = R(tile,
//   "tile")[y][x];
// The last checks bounds and records the access for the race check. What it does not recognise
// stays as it was: the types are those the source declared, so it compiles and runs, only
// unchecked.
#pragma once

#include "kerf_simt/runtime.h"

namespace kerf_simt {

template <typename T>
KERF_SIMT_INLINE T& StaticShared(Slot& slot, const char* name, uint32_t align = 16,
                                 int line = __builtin_LINE()) {
  if (__builtin_expect(__atomic_load_n(&slot.launch, __ATOMIC_ACQUIRE) != current.launch, 0)) {
    PlaceShared(slot, sizeof(T), align < alignof(T) ? alignof(T) : align, name, line);
  }
  return *reinterpret_cast<T*>(current.static_shared + slot.offset);
}
// T is an array of unknown bound, as it was declared.
template <typename T>
KERF_SIMT_INLINE T& DynamicShared() {
  return *reinterpret_cast<T*>(current.dynamic_shared);
}

template <typename T>
struct IsVolatile {
  static constexpr bool kValue = false;
};
template <typename T>
struct IsVolatile<volatile T> {
  static constexpr bool kValue = true;
};

// A volatile element says that the author orders the accesses some other way.
template <Access A, typename T>
KERF_SIMT_INLINE T& Touch(T& element, const char* name, int line) {
  if constexpr (A != Access::kAddress && !IsVolatile<T>::kValue) {
    if (__builtin_expect(current.record != 0, 0)) {
      RecordAccess(const_cast<const void*>(static_cast<const volatile void*>(&element)), sizeof(T),
                   A, name, line);
    }
  }
  return element;
}

template <Access A, typename T>
struct Subscript {
  T* base;
  unsigned long long size;
  long long last;  // elements of type T from `base` to the end of the whole variable
  const char* name;
  int line;

  template <typename I>
  KERF_SIMT_INLINE decltype(auto) operator[](I i) const {
    long long index = static_cast<long long>(i);
    // One past the end is an address, though not an element.
    if (__builtin_expect(static_cast<unsigned long long>(index) >= size + (A == Access::kAddress),
                         0)) {
      SharedIndex(name, index, size, last, line);
    }
    return At(base[index], index);
  }

 private:
  template <typename E, size_t N>
  KERF_SIMT_INLINE Subscript<A, E> At(E (&row)[N], long long index) const {
    return Subscript<A, E>{row, N, (last - index) * static_cast<long long>(N), name, line};
  }
  template <typename E>
  KERF_SIMT_INLINE E& At(E& element, long long) const {
    return Touch<A>(element, name, line);
  }
};

// A local pointer into shared memory: where its array ends is not known, only the accesses are
// recorded.
template <Access A, typename T>
struct Pointer {
  T* base;
  const char* name;
  int line;
  template <typename I>
  KERF_SIMT_INLINE T& operator[](I i) const {
    return Touch<A>(base[i], name, line);
  }
};

template <typename T>
struct Checked {
  template <Access A>
  static KERF_SIMT_INLINE T& Use(T& variable, const char* name, int line) {
    return Touch<A>(variable, name, line);
  }
};
template <typename T, size_t N>
struct Checked<T[N]> {
  template <Access A>
  static KERF_SIMT_INLINE Subscript<A, T> Use(T (&array)[N], const char* name, int line) {
    return Subscript<A, T>{array, N, static_cast<long long>(N), name, line};
  }
};
template <typename T>
struct Checked<T[]> {
  template <Access A>
  static KERF_SIMT_INLINE Subscript<A, T> Use(T (&array)[], const char* name, int line) {
    unsigned long long n = current.dynamic_bytes / sizeof(T);
    return Subscript<A, T>{&array[0], n, static_cast<long long>(n), name, line};
  }
};
template <typename T>
struct Checked<T*> {
  template <Access A>
  static KERF_SIMT_INLINE Pointer<A, T> Use(T* pointer, const char* name, int line) {
    return Pointer<A, T>{pointer, name, line};
  }
};
template <typename T>
struct Checked<T* const> : Checked<T*> {};
template <typename T>
struct Checked<T* __restrict__> : Checked<T*> {};
template <typename T>
struct Checked<T* __restrict__ const> : Checked<T*> {};

#define KERF_SIMT_ACCESS(short_name, access)                                \
  template <typename T>                                                     \
  KERF_SIMT_INLINE decltype(auto) short_name(T& variable, const char* name, \
                                             int line = __builtin_LINE()) { \
    return Checked<T>::template Use<Access::access>(variable, name, line);  \
  }
KERF_SIMT_ACCESS(R, kRead)
KERF_SIMT_ACCESS(W, kWrite)
KERF_SIMT_ACCESS(U, kUpdate)
KERF_SIMT_ACCESS(A, kAddress)
#undef KERF_SIMT_ACCESS

}  // namespace kerf_simt
