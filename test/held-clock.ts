/**
 * A clock that advances only when a test says so, so that pauses of the machine do not affect results. Timers still run
 * in real time.
 */
import type { Test } from 'tap';

/** Stops `performance.now()` and `Date.now()` in this process until the test ends. `pass` advances them. */
export function holdClock(t: Test): { pass(milliseconds: number): void } {
  let passed = 0;
  for (const clock of [performance, Date]) {
    const now = Object.getOwnPropertyDescriptor(clock, 'now');
    // Rounded to whole milliseconds, so that sums and differences are exact.
    const held = Math.ceil(clock.now());
    clock.now = () => held + passed;
    t.teardown(() => {
      if (now) Object.defineProperty(clock, 'now', now);
      else Reflect.deleteProperty(clock, 'now');
    });
  }
  return {
    pass: (milliseconds) => {
      passed += milliseconds;
    },
  };
}
