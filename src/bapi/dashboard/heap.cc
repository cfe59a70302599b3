#include "bapi/dashboard/heap.h"

#include <malloc.h>

namespace bapi {

#ifdef __GLIBC__

void share_heaps() {
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

void give_back_memory() { ::malloc_trim(0); }

#else

void share_heaps() {}
void give_back_memory() {}

#endif

}  // namespace bapi
