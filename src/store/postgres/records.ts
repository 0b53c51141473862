/** Single records, which PostgreSQL writes as JSON text. */
import { JsonText } from '../../json/json-text.ts';
import type { Fields } from '../collection.ts';
import type { Table } from '../table.ts';
import type { AskAll } from './gathering.ts';
import { toJsonSql } from './record-json.ts';

/** The records as one text, a line for each: rows cost more than to split it. JSON has no line breaks of its own. */
export function buildGetRecords(schema: string, table: Table): AskAll<bigint, JsonText<Fields> | undefined> {
  const record = toJsonSql(table);
  const sql = `SELECT string_agg(id || ' ' || ${record}, E'\\n') FROM ${schema}.${table.name} WHERE id = ANY ($1::bigint[])`;
  return async (connection, ids) => {
    const [[lines]] = (await connection.query(sql, [`{${ids.join()}}`])) as [[string | null]];
    const texts = new Map(lines?.split('\n').map(toEntry));
    return ids.map((id) => {
      const text = texts.get(String(id));
      return text === undefined ? undefined : JsonText.of<Fields>(text);
    });
  };
}

function toEntry(line: string): [id: string, text: string] {
  const end = line.indexOf(' ');
  return [line.slice(0, end), line.slice(end + 1)];
}
