/** Reads environment variables, and the files that they name. Also finds misspelt names. */
import { readFileSync, statSync } from 'node:fs';

/** Reads variables, and adds their values by name to the map `used`, with `***` for secrets. */
export class Variables {
  /** The problems, one line each. */
  readonly problems: string[] = [];
  readonly warnings: string[] = [];
  readonly env: Record<string, string | undefined>;
  readonly #used: Map<string, string>;

  constructor(env: Record<string, string | undefined>, used: Map<string, string>) {
    this.env = env;
    this.#used = used;
  }

  /** Adds a problem. `rule` describes the correct values. */
  addProblem(name: string, rule: string): void {
    this.problems.push(`${name} must be ${rule}, not ${JSON.stringify(this.env[name])}`);
  }

  /** Returns the value, or the fallback if the variable is missing or empty. */
  text(name: string, fallback = ''): string {
    const value = this.env[name] || fallback;
    this.#used.set(name, value);
    return value;
  }

  /**
   * Returns the value of a secret. If the variable `<name>_FILE` is set instead, returns the text of the file that it
   * names.
   */
  secret(name: string, fallback = ''): string {
    const value = this.text(name);
    const file = this.text(`${name}_FILE`);
    this.#used.set(name, value || file ? '***' : fallback);
    if (file === '') return value || fallback;
    if (value !== '') this.problems.push(`${name} and ${name}_FILE are both set: leave one out`);
    try {
      const found = statSync(file);
      // Rejects pipes, because reading one might never end.
      if (!found.isFile()) throw new Error(`${file} is not a file`);
      if ((found.mode & 0o004) !== 0) this.warnings.push(`${name}_FILE: ${file} can be read by everybody: chmod o-r`);
      return readFileSync(file, 'utf8').trimEnd() || fallback;
    } catch (error) {
      this.problems.push(`${name}_FILE cannot be read: ${(error as Error).message}`);
      return fallback;
    }
  }

  integer(name: string, fallback: number, least: number, most: number): number {
    const value = this.text(name, String(fallback));
    if (!/^\d+$/.test(value) || Number(value) < least || Number(value) > most) {
      this.addProblem(name, `an integer from ${least} to ${most}`);
    }
    return Number(value);
  }

  /**
   * Returns the result of `parse` for the variable's text. If `parse` throws, adds a problem with the rule, and returns
   * undefined. The value undefined is never used, because a start with problems fails.
   */
  parsed<Value>(name: string, rule: string, parse: (text: string) => Value, fallback = ''): Value {
    try {
      return parse(this.text(name, fallback));
    } catch {
      this.addProblem(name, rule);
      return undefined as Value;
    }
  }

  /**
   * Returns a warning for each unknown variable with a name similar to a known one. Call it after all known variables
   * were read.
   */
  misspelt(): string[] {
    const others = Object.keys(this.env).filter((name) => this.env[name] && !this.#used.has(name));
    return others.flatMap((name) => {
      const meant = [...this.#used.keys()].find((ours) => isNearly(name.toUpperCase(), ours));
      return meant === undefined ? [] : [`${name} is not known: is ${meant} meant?`];
    });
  }
}

/** Splits a list at commas and line ends. Empty items are dropped. */
export function toList(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((item) => item.trim())
    .filter(Boolean);
}

/** True if two names differ by one added, missing or replaced letter, or by two swapped neighbours. */
function isNearly(name: string, ours: string): boolean {
  let same = 0;
  while (same < name.length && name[same] === ours[same]) same++;
  const [a, b] = [name.slice(same), ours.slice(same)];
  if (a.slice(1) === b || a === b.slice(1) || a.slice(1) === b.slice(1)) return true;
  return a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
}
