/** By path from the project's root. */
type Files = Map<string, Buffer>;

export const isSource: boolean;
export function prepareEngine(): Promise<void>;
export function readFilesIn(folders: string[]): Files;
export function readProgram(): Files;
export function writeProgram(folder: string, files?: Files): Promise<void>;
export function placeProgram(files?: Files, note?: string, makeWay?: () => Promise<void>): Promise<void>;
