/** Single pets, which PostgreSQL writes as JSON text. */
import { JsonText } from '../../json/json-text.ts';
import type { Pet } from '../store.ts';
import type { AskAll } from './gathering.ts';
import { PET_JSON } from './pet-json.ts';

/** The pets as one text, a line for each: rows cost more than to split it. JSON has no line breaks of its own. */
export function buildGetPets(schema: string): AskAll<bigint, JsonText<Pet> | undefined> {
  const sql = `SELECT string_agg(id || ' ' || ${PET_JSON}, E'\\n') FROM ${schema}.pets WHERE id = ANY ($1::bigint[])`;
  return async (connection, ids) => {
    const [[lines]] = (await connection.query(sql, [`{${ids.join()}}`])) as [[string | null]];
    const texts = new Map(lines?.split('\n').map(toEntry));
    return ids.map((id) => {
      const text = texts.get(String(id));
      return text === undefined ? undefined : JsonText.of<Pet>(text);
    });
  };
}

function toEntry(line: string): [id: string, text: string] {
  const end = line.indexOf(' ');
  return [line.slice(0, end), line.slice(end + 1)];
}
