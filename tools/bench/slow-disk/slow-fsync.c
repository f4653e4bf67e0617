/* Preloaded into a database server: each sync takes some milliseconds longer, as on a slow or a remote disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void wait_longer(void) {
  const char *millis = getenv("SLOW_FSYNC_MILLIS");
  long nanos = (millis ? atol(millis) : 5) * 1000000L;
  struct timespec rest = {nanos / 1000000000L, nanos % 1000000000L};
  nanosleep(&rest, NULL);
}

int fsync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  int result = real(file);
  wait_longer();
  return result;
}

int fdatasync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  int result = real(file);
  wait_longer();
  return result;
}
