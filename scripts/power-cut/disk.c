/*
 * Simulates a disk that keeps only synced data. Loaded into the service with LD_PRELOAD, it stores in IMAGE_DIR, for
 * every file of DATA_DIR, the content that the file had when its last successful fsync or fdatasync began. When the
 * process is killed, IMAGE_DIR has the least that a machine could have on its disk after a power cut.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The name of fd's file below DATA_DIR, or 0 for any other file. */
static const char *name_of(int fd, char path[PATH_MAX]) {
  char link[64];
  const char *folder = getenv("DATA_DIR");
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (!folder || length < 0) return 0;
  path[length] = 0;
  size_t prefix = strlen(folder);
  return strncmp(path, folder, prefix) == 0 && path[prefix] == '/' ? path + prefix + 1 : 0;
}

/* Renames a finished draft, so that a kill in between leaves the previous image. */
static void keep(const char *name, const char *bytes, size_t size) {
  char draft[PATH_MAX], target[PATH_MAX];
  snprintf(target, sizeof target, "%s/%s", getenv("IMAGE_DIR"), name);
  snprintf(draft, sizeof draft, "%s.draft", target);
  FILE *file = fopen(draft, "wb");
  fwrite(bytes, 1, size, file);
  fclose(file);
  rename(draft, target);
}

static int synced(int fd, int (*sync)(int)) {
  char path[PATH_MAX];
  const char *name = name_of(fd, path);
  if (!name) return sync(fd);
  pthread_mutex_lock(&lock);
  struct stat file;
  fstat(fd, &file);
  char *bytes = malloc(file.st_size + 1);
  /* Through the same descriptor: closing another one of the database file would drop SQLite's locks on it. */
  ssize_t size = pread(fd, bytes, file.st_size, 0);
  int result = sync(fd);
  if (result == 0 && size >= 0) keep(name, bytes, size);
  free(bytes);
  pthread_mutex_unlock(&lock);
  return result;
}

int fsync(int fd) { return synced(fd, dlsym(RTLD_NEXT, "fsync")); }
int fdatasync(int fd) { return synced(fd, dlsym(RTLD_NEXT, "fdatasync")); }
