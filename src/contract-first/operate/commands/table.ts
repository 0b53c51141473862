/** The form of a command of the program. */
import type { Service } from '../../service.ts';

/** The way to start the program, as the texts for operators name it: it works without development tools. */
export const PROGRAM = 'node dist/src/main.js';

export interface Job {
  args: string[];
  service: Service;
  env: NodeJS.ProcessEnv;
  /** Prints what was found or done. */
  tell: (text: string) => void;
}

export interface Command {
  /** How it is called, and what its arguments mean. */
  toUsage(service: Service): string;
  /** @throws UsageError, or Error whose message is printed */
  run(job: Job): Promise<void>;
}

/** The arguments are wrong: the usage is printed. */
export class UsageError extends Error {
  override name = 'UsageError';
}
