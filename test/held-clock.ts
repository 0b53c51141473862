/** A clock that goes on only where the test says so: no pause of the machine counts. Timers go on by themselves. */
import type { Test } from 'tap';

/** Holds the time of `performance.now()` and `Date.now()` in this process until the test has ended. */
export function holdClock(t: Test): { pass(milliseconds: number): void } {
  let passed = 0;
  for (const clock of [performance, Date]) {
    const now = Object.getOwnPropertyDescriptor(clock, 'now');
    // Whole, so that sums and differences are exact.
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
