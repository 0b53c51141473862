/** Yours: builds what handlers need beside the collections, such as other services, queues or mail. Handlers get them as `services`. */
import type { ServiceParts, Settings, SettingsOf } from 'contract-first';

/** Environment variables, such as `PAYMENTS_URL: { kind: 'text', rule: 'a URL', fits: URL.canParse }`. */
export const settings = {} as const satisfies Settings;

/** A service may have `check`, which `/readyz` calls at most once a second, and `close`, which the stop waits for. */
export async function buildServices(_config: SettingsOf<typeof settings>, _parts: ServiceParts) {
  return {};
}

export type Services = Awaited<ReturnType<typeof buildServices>>;
