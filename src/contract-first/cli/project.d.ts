export class ProjectError extends Error {}

interface Package {
  name?: string;
  version?: string;
  contract?: unknown;
  imports?: Record<string, string>;
}

export function readPackage(): Package;
export function findContract(): string;
export function describeOtherVersion(): string | undefined;
export function findContractOrExit(): string;
export function writeCompilerSettings(): string;
