/** Builds the package into a folder, by default its `dist/`. */
export function buildPackage(folder?: string): Promise<void>;
