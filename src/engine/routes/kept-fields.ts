/** Refuses what a request may send and no store could keep: an id, which the store gives, and text that PostgreSQL does not take. */

import type { AnyDomain } from '../../store/description.ts';
import type { BuildCheck } from '../schema/checks.ts';
import type { Json, Refuse } from '../schema/json.ts';
import { toFlat } from '../schema/subsets.ts';

/** Of the domain's schemas, `stored` is what is kept, and `sent` what it is made of. A domain that the contract no longer has is not asked. */
export function checkKeptFields(
  { newSchema, columns }: AnyDomain,
  { stored, sent, buildCheck }: { stored: Json; sent: Json; buildCheck: BuildCheck },
  refuse: Refuse,
): void {
  const { properties: kept = {} } = toFlat(stored);
  if (!Object.keys(columns).every((name) => name in kept)) return;
  const { properties = {} } = toFlat(sent);
  for (const [name, field] of Object.entries<Json>(properties)) {
    const place = `schema ${newSchema}: field ${name}`;
    if (name === 'id' && !field.readOnly) refuse(`${place}: every id is given by the store: leave it out`);
    if (columns[name]?.type !== 'text') continue;
    const check = buildCheck(field, { name: place }, () => {});
    const isTaken = (text: string) => !check(text.padStart(field.minLength ?? 1, 'x'));
    if (['\0', 'x\0', '\0x', 'x\0x'].some(isTaken)) {
      refuse(`${place}: may have U+0000, which PostgreSQL does not keep: give it a pattern such as ^[^\\x00]*$`);
    }
  }
}
