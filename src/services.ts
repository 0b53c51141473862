/** What handlers need beside what is kept: other services, queues, senders of mail. Yours; handlers get them as `services`. */
import type { ServiceParts, Settings, SettingsOf } from './engine/services.ts';

/** Variables of the environment, such as `PAYMENTS_URL: { kind: 'text', rule: 'a URL', fits: URL.canParse }`. */
export const settings = {} as const satisfies Settings;

/** Each may have `check`, which `/readyz` asks, and `close`, which the stop waits for. */
export async function buildServices(_config: SettingsOf<typeof settings>, _parts: ServiceParts) {
  return {};
}

export type Services = Awaited<ReturnType<typeof buildServices>>;
