/** Runs files of tests one after the other in this process: the arguments are the folder that they belong to, for tap's fixtures; `TEST_FILES` names them. */
import { pathToFileURL } from 'node:url';

for (const file of process.env.TEST_FILES.split(' ')) await import(pathToFileURL(file).href);
