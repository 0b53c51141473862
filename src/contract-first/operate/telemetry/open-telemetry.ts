/**
 * Loads OpenTelemetry's packages, which are not dependencies, because they would be a quarter of each installation. A
 * service that sends traces installs them.
 */
import { createRequire } from 'node:module';
import { OperatorError } from '../../operator-error.ts';

export interface OpenTelemetry {
  api: typeof import('@opentelemetry/api');
  exporter: typeof import('@opentelemetry/exporter-trace-otlp-http');
  resources: typeof import('@opentelemetry/resources');
  sdk: typeof import('@opentelemetry/sdk-trace-base');
}

const PACKAGES: Record<keyof OpenTelemetry, string> = {
  api: '@opentelemetry/api',
  exporter: '@opentelemetry/exporter-trace-otlp-http',
  resources: '@opentelemetry/resources',
  sdk: '@opentelemetry/sdk-trace-base',
};

/**
 * Loads the packages from the node_modules folder of a service. `file` is any file of the service. @throws
 * OperatorError with the command that installs missing packages
 */
export function loadOpenTelemetry(file: URL): OpenTelemetry {
  const load = createRequire(file);
  const missing = Object.values(PACKAGES).filter((name) => !canResolve(load, name));
  if (missing.length > 0) {
    const { devDependencies } = createRequire(import.meta.url)('contract-first/package.json');
    const wanted = missing.map((name) => `${name}@${devDependencies[name]}`).join(' ');
    throw new OperatorError(`Traces need packages that are not installed: run \`npm install ${wanted}\`.`);
  }
  return Object.fromEntries(Object.entries(PACKAGES).map(([part, name]) => [part, load(name)])) as never;
}

function canResolve({ resolve }: NodeJS.Require, name: string): boolean {
  try {
    return resolve(name) !== '';
  } catch {
    return false;
  }
}
