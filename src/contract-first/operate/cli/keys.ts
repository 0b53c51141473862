/** Makes, lists and revokes API keys, with or without a running server. */
import { runCommand } from './command.ts';
import { readCommand } from './key-commands.ts';

process.stdout.on('error', ({ message }) => {
  console.error(`The answer cannot be written: ${message}. What was asked is done: see \`list\`.`);
  process.exit(1);
});

await runCommand({
  readCommand: () => readCommand(process.argv.slice(2)),
  env: process.env,
  tell: console.log,
  ifUnknown: 'The change may have been made or not: see `list`, and try again.',
});
