/** Pages of pets, which PostgreSQL writes as JSON text: all that are asked for in one statement, the same page once. */
import { JsonText } from '../../json/json-text.ts';
import type { Page, PageQuery, Pet } from '../store.ts';
import type { AskAll } from './gathering.ts';
import { PET_JSON } from './pet-json.ts';

type PageRow = [texts: string | null, last: string | null, hasMore: 't' | 'f'];

export function buildListPets(schema: string): AskAll<PageQuery, Page> {
  const sql = buildSql(schema);
  return async (connection, queries) => {
    const keys = queries.map(({ limit, status, after }) => `${limit} ${after} ${status}`);
    const asked = [...new Map(queries.map((query, index) => [keys[index], query])).entries()];
    const rows = await connection.query(sql, [
      asked.map(([, { limit }]) => limit),
      asked.map(([, { status }]) => status ?? null),
      asked.map(([, { after = 0n }]) => after),
    ]);
    const pages = new Map(asked.map(([key], index) => [key, toPage(rows[index] as PageRow)]));
    return keys.map((key) => pages.get(key) as Page);
  };
}

/**
 * One pet more than asked for says whether there is a next page. The range of (status, id) is that of one status: written as an
 * equation, PostgreSQL may take the index of the ids in place of that of the statuses, and read all pets of the others.
 */
function buildSql(schema: string): string {
  return `
    SELECT page.*
    FROM unnest($1::bigint[], $2::text[], $3::bigint[]) WITH ORDINALITY AS asked (most, status, after, place), LATERAL (
      SELECT string_agg(pet, ',' ORDER BY id) FILTER (WHERE number <= asked.most),
        max(id) FILTER (WHERE number = asked.most),
        count(*) > asked.most
      FROM (
        SELECT id, ${PET_JSON} AS pet, row_number() OVER (ORDER BY id) AS number
        FROM (
          (SELECT * FROM ${schema}.pets WHERE asked.status IS NULL AND id > asked.after ORDER BY id LIMIT asked.most + 1)
          UNION ALL
          (SELECT * FROM ${schema}.pets WHERE (status, id) > (asked.status, asked.after) AND status <= asked.status
            ORDER BY status, id LIMIT asked.most + 1)
        ) AS found
      ) AS numbered
    ) AS page
    ORDER BY asked.place`;
}

function toPage([texts, last, hasMore]: PageRow): Page {
  const next = hasMore === 't' ? BigInt(last as string) : undefined;
  return { body: JsonText.of<Pet[]>(`[${texts ?? ''}]`), next };
}
