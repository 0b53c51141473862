/** Reads environment variables, also from files, and finds misspelt names. */
import { readFileSync, statSync } from 'node:fs';

/** Notes the values in `used`, by name, without secrets. */
export class Variables {
  /** The faults, a line each. */
  readonly problems: string[] = [];
  readonly warnings: string[] = [];
  readonly env: Record<string, string | undefined>;
  readonly #used: Map<string, string>;

  constructor(env: Record<string, string | undefined>, used: Map<string, string>) {
    this.env = env;
    this.#used = used;
  }

  /** Adds a problem; `rule` says what the value must be. */
  refuse(name: string, rule: string): void {
    this.problems.push(`${name} must be ${rule}, not ${JSON.stringify(this.env[name])}`);
  }

  /** An empty variable counts as not set. */
  text(name: string, fallback = ''): string {
    const value = this.env[name] || fallback;
    this.#used.set(name, value);
    return value;
  }

  /** The value, or the text of the file that `<name>_FILE` names. */
  secret(name: string, fallback = ''): string {
    const file = this.text(`${name}_FILE`);
    const value = this.text(name);
    this.#used.set(name, value || file ? '***' : fallback);
    if (file === '') return value || fallback;
    if (value !== '') this.problems.push(`${name} and ${name}_FILE are both set: leave one out`);
    try {
      const found = statSync(file);
      // A pipe may never end.
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
      this.refuse(name, `an integer from ${least} to ${most}`);
    }
    return Number(value);
  }

  /** Warnings for variables whose names are close to ours. To be called after all of ours were read. */
  misspelt(): string[] {
    const others = Object.keys(this.env).filter((name) => this.env[name] && !this.#used.has(name));
    return others.flatMap((name) => {
      const meant = [...this.#used.keys()].find((ours) => isNearly(name.toUpperCase(), ours));
      return meant === undefined ? [] : [`${name} is not known: is ${meant} meant?`];
    });
  }
}

/** The items of a list, between commas or line ends. */
export function toList(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((item) => item.trim())
    .filter(Boolean);
}

/** Names shorter than this, or with another first letter, must be closer: HOME is not HOST, and TAP_TIMEOUT not STOP_TIMEOUT. */
const SHORT = 6;

function isNearly(name: string, ours: string): boolean {
  const most = ours.length < SHORT || name[0] !== ours[0] ? 1 : 2;
  return Math.abs(name.length - ours.length) <= most && distance(name, ours) <= most;
}

/** The Damerau-Levenshtein distance, in its simple form: letters added, left out, replaced, or swapped with the next. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] as number;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isExchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, isExchanged ? at(i - 2, j - 2) + 1 : replaced));
    }
  }
  return at(a.length, b.length);
}
