// glibc has arc4random since 2.36, and the libarchive of Debian 12 calls it: with these two the
// module loads from glibc 2.34 on.
#include <sys/random.h>

#include <cstddef>
#include <cstdint>

extern "C" {

void arc4random_buf(void* buffer, size_t size) {
  auto* to = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t got = getrandom(to, size, 0);
    if (got <= 0) continue;  // a signal
    to += got;
    size -= static_cast<size_t>(got);
  }
}

uint32_t arc4random() {
  uint32_t value = 0;
  arc4random_buf(&value, sizeof(value));
  return value;
}
}
