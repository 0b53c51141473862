/**
 * A disk that stalls or fails on request. A preloaded library replaces fsync and the write of the log in programs that
 * run with `env`.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import type { Test } from 'tap';

const DISK = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void stall_as_told(const char *variable) {
  while (access(getenv(variable), F_OK) == 0) usleep(10000);
}

static int sync_as_told(const char *name, int fd) {
  stall_as_told("DISK_STALLS");
  if (access(getenv("DISK_FAILS"), F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
}

int fsync(int fd) { return sync_as_told("fsync", fd); }
int fdatasync(int fd) { return sync_as_told("fdatasync", fd); }

ssize_t write(int fd, const void *bytes, size_t count) {
  struct stat log;
  if (fd == STDOUT_FILENO && fstat(fd, &log) == 0 && S_ISREG(log.st_mode)) stall_as_told("LOG_STALLS");
  return ((ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(fd, bytes, count);
}
`;

export interface FaultyDisk {
  /** Environment variables for the programs that use this disk. */
  env: Record<string, string>;
  /** From now on, no call of fsync returns. */
  stall(): void;
  /** From now on, no write to the log returns. This works only if the log is a file. */
  stallLog(): void;
  /** From now on, every fsync fails with EIO. */
  fail(): void;
  mend(): void;
}

export function prepareFaultyDisk(t: Test): FaultyDisk {
  const folder = t.testdir({ 'disk.c': DISK });
  execFileSync('cc', ['-shared', '-fPIC', '-o', `${folder}/disk.so`, `${folder}/disk.c`, '-ldl']);
  const [stalls, logStalls, fails] = [`${folder}/stalls`, `${folder}/log-stalls`, `${folder}/fails`];
  return {
    env: {
      LD_PRELOAD: `${folder}/disk.so`,
      DISK_STALLS: stalls,
      LOG_STALLS: logStalls,
      DISK_FAILS: fails,
      DATABASE_URL: `sqlite:${folder}/pets.db`,
    },
    stall: () => writeFileSync(stalls, ''),
    stallLog: () => writeFileSync(logStalls, ''),
    fail: () => writeFileSync(fails, ''),
    mend: () => {
      for (const fault of [stalls, logStalls, fails]) rmSync(fault, { force: true });
    },
  };
}
