/** Single pets, which PostgreSQL writes as JSON text. */
import { JsonText } from '../../json/json-text.ts';
import type { Pet } from '../store.ts';
import type { AskAll } from './gathering.ts';
import { PET_JSON } from './pet-json.ts';

export function buildGetPets(schema: string): AskAll<bigint, JsonText<Pet> | undefined> {
  const sql = `SELECT id, ${PET_JSON} FROM ${schema}.pets WHERE id = ANY ($1::bigint[])`;
  return async (connection, ids) => {
    const texts = new Map((await connection.query(sql, [ids])) as [id: string, text: string][]);
    return ids.map((id) => {
      const text = texts.get(String(id));
      return text === undefined ? undefined : JsonText.of<Pet>(text);
    });
  };
}
