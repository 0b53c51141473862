/**
 * The way to the writing thread. Pets of one turn of the event loop, and those that come while an fsync runs, share the next
 * one: under load a create costs a fraction of an fsync, and still none is answered before its row is on disk.
 */
import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { NewPet } from '../store.ts';
import { toStoreError } from './connection.ts';
import { toBatch } from './insert.ts';
import type { Written } from './writer.ts';

export interface Writer {
  /** The id of the pet, once it is durable. @throws StoreUnavailable when it could not be written, and is not there */
  write(pet: NewPet): Promise<bigint>;
  /** Ends the thread when everything that waits is written. */
  stop(): Promise<void>;
}

interface Waiting {
  pet: NewPet;
  resolve: (id: bigint) => void;
  reject: (error: unknown) => void;
}

export function startWriter(file: string): Writer {
  const worker = new Worker(new URL(`./writer${extname(import.meta.url)}`, import.meta.url), {
    workerData: file,
  });
  const exit = once(worker, 'exit');
  let waiting: Waiting[] = [];
  let writing: Waiting[] = [];
  let isDue = false;

  /** At the end of the turn, with all others of it: each batch costs two changes of threads, and the readers their cache. */
  function writeSoon() {
    if (isDue || writing.length > 0 || waiting.length === 0) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      writing = waiting;
      waiting = [];
      worker.postMessage(toBatch(writing.map(({ pet }) => pet)));
    });
  }

  worker.on('message', (written: Written) => {
    const batch = writing;
    writing = [];
    writeSoon();
    if ('ids' in written) {
      for (const [index, { resolve }] of batch.entries()) resolve(written.ids[index] as bigint);
    } else {
      const failure = toStoreError(Object.assign(new Error(written.message), { code: written.code }));
      for (const { reject } of batch) reject(failure);
    }
  });

  return {
    write: (pet) =>
      new Promise((resolve, reject) => {
        waiting.push({ pet, resolve, reject });
        writeSoon();
      }),
    stop: async () => {
      while (isDue || writing.length > 0) await once(worker, 'message');
      worker.postMessage('stop');
      await exit;
    },
  };
}
