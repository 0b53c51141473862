/** Loads the pet store's configuration from environment variables. */
import type { Settings } from '../src/contract-first/engine/services.ts';
import { loadConfig as load } from '../src/contract-first/operate/config.ts';

export const loadConfig = <Declared extends Settings>(
  env: Record<string, string | undefined>,
  used?: Map<string, string>,
  settings?: Declared,
) => load(env, { name: 'petstore', settings }, used);
