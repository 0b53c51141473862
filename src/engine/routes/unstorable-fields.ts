/** Refuses schemas that allow text which no store can keep: PostgreSQL stores no U+0000. */

import type { AnyDescription } from '../../store/description.ts';
import type { BuildCheck } from '../schema/checks.ts';
import { keywordsOf, type Refuse, type Schema } from '../schema/json.ts';
import { mergeAllOf } from '../schema/subsets.ts';

/** `stored` is the schema of the records. A collection that the contract no longer has is skipped. */
export function refuseUnstorableFields(
  { schema, columns }: AnyDescription,
  { stored, buildCheck }: { stored: Schema; buildCheck: BuildCheck },
  refuse: Refuse,
): void {
  const { properties = {} } = mergeAllOf(stored);
  if (!Object.keys(columns).every((name) => name in properties)) return;
  for (const [name, field] of Object.entries(properties)) {
    const place = `schema ${schema}: field ${name}`;
    if (columns[name]?.type !== 'text') continue;
    const check = buildCheck(field, { name: place }, () => {});
    const isTaken = (text: string) => !check(text.padStart(keywordsOf(field).minLength ?? 1, 'x'));
    if (['\0', 'x\0', '\0x', 'x\0x'].some(isTaken)) {
      refuse(`${place}: may have U+0000, which PostgreSQL does not keep: give it a pattern such as ^[^\\x00]*$`);
    }
  }
}
