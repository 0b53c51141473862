/** Reads single records, which PostgreSQL writes as JSON text. */
import { JsonText, type TextSource } from '../../json/json-text.ts';
import type { Fields } from '../collection.ts';
import type { Table } from '../table.ts';
import { toAsked } from '../texts.ts';
import type { AskAll } from './coalescing.ts';
import { toJsonSql } from './record-json.ts';

/** Reads the records as one text, a line for each: rows cost more than splitting lines. JSON text has no line breaks. */
export function buildGetRecords(
  schema: string,
  table: Table,
  source: TextSource,
): AskAll<unknown, JsonText<Fields> | undefined> {
  const isInt64 = table.id.type === 'int64';
  const sql = isInt64 ? toSqlByNumber(schema, table) : toSqlByText(schema, table);
  return async (connection, ids) => {
    const asked = isInt64 ? `{${ids.join()}}` : ids.map(toAsked);
    const [[lines]] = (await connection.query(sql, [asked])) as [[string | null]];
    const texts = new Map(lines?.split('\n').map(toEntry));
    return ids.map((id, index) => {
      const text = texts.get(String(isInt64 ? id : index + 1));
      return text === undefined ? undefined : JsonText.of<Fields>(text, source);
    });
  };
}

/** Each line begins with the id. */
function toSqlByNumber(schema: string, table: Table): string {
  const { name, id } = table;
  return `
    SELECT string_agg(${id.column} || ' ' || ${toJsonSql(table)}, E'\\n')
    FROM ${schema}.${name} WHERE ${id.column} = ANY ($1::bigint[])`;
}

/** Each line begins with the number of the question, since a text id may contain spaces and line breaks. */
function toSqlByText(schema: string, table: Table): string {
  return `
    SELECT string_agg(_place || ' ' || ${toJsonSql(table)}, E'\\n')
    FROM ${schema}.${table.name} JOIN unnest($1::text[]) WITH ORDINALITY AS _asked (_id, _place) ON ${table.id.column} = _id`;
}

function toEntry(line: string): [id: string, text: string] {
  const end = line.indexOf(' ');
  return [line.slice(0, end), line.slice(end + 1)];
}
