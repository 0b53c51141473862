/** A disk that stalls or fails when it is told to, for the programs of one test: their fsync is replaced. */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import type { Test } from 'tap';

const FSYNC = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int sync_as_told(const char *name, int fd) {
  while (access(getenv("DISK_STALLS"), F_OK) == 0) usleep(10000);
  if (access(getenv("DISK_FAILS"), F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
}

int fsync(int fd) { return sync_as_told("fsync", fd); }
int fdatasync(int fd) { return sync_as_told("fdatasync", fd); }
`;

export interface FaultyDisk {
  /** The environment of the programs that have this disk. */
  env: Record<string, string>;
  /** From now on no fsync returns. */
  stall(): void;
  /** From now on every fsync fails with EIO. */
  fail(): void;
  mend(): void;
}

export function prepareFaultyDisk(t: Test): FaultyDisk {
  const folder = t.testdir({ 'fsync.c': FSYNC });
  execFileSync('cc', ['-shared', '-fPIC', '-o', `${folder}/fsync.so`, `${folder}/fsync.c`, '-ldl']);
  const [stalls, fails] = [`${folder}/stalls`, `${folder}/fails`];
  return {
    env: {
      LD_PRELOAD: `${folder}/fsync.so`,
      DISK_STALLS: stalls,
      DISK_FAILS: fails,
      DATABASE_URL: `sqlite:${folder}/pets.db`,
    },
    stall: () => writeFileSync(stalls, ''),
    fail: () => writeFileSync(fails, ''),
    mend: () => {
      rmSync(stalls, { force: true });
      rmSync(fails, { force: true });
    },
  };
}
