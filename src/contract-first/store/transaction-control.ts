/** Finds transaction control in the SQL of a migration: a COMMIT would leave half of the migrations done. */

export type DatabaseKind = 'sqlite' | 'postgres';

/** The begin of a comment, a text or a quoted name; or a semicolon, or a word. */
const TOKENS = {
  sqlite: /(--|\/\*|['"`[])|;|\w+/g,
  postgres: /(--|\/\*|e?'|"|\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|;|[\w$\u0080-\uffff]+/gi,
};

/** Their ends, where they do not end as they begin. */
const ENDS: Record<string, string> = { '--': '\n', '/*': '*/', '[': ']', "e'": "'" };

/** PostgreSQL has comments within comments, and texts with escaped quotes. */
const PARTS: Record<string, RegExp> = { '/*': /\/\*|\*\//g, "e'": /\\[\s\S]|''|'/g };

/** A statement with others in it, up to an END that stands alone. */
const WITH_BODY = { sqlite: /^CREATE (?:TEMP |TEMPORARY )?TRIGGER /, postgres: /^CREATE .* BEGIN ATOMIC / };
const BODY_ENDS = /(?:;|ATOMIC) END $/;

const CONTROL = /^(?:BEGIN|START|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|ATTACH|PREPARE TRANSACTION)\b/;

/** Returns the first words of the first such statement, undefined if there is none. */
export function findTransactionControl(sql: string, database: DatabaseKind): string | undefined {
  // Only in PostgreSQL a carriage return ends a comment.
  const text = database === 'postgres' ? sql.replaceAll('\r', '\n') : sql;
  let statement = '';
  for (const word of [...wordsOf(text, database), ';']) {
    const isOver = word === ';' && (!WITH_BODY[database].test(statement) || BODY_ENDS.test(statement));
    const [control] = (isOver && CONTROL.exec(statement)) || [];
    if (control) return control;
    statement = isOver ? '' : `${statement}${word} `;
  }
  return undefined;
}

/** The words and semicolons, in capitals, outside of comments, texts and quoted names. */
function* wordsOf(sql: string, database: DatabaseKind): Generator<string> {
  const tokens = new RegExp(TOKENS[database]);
  for (let token = tokens.exec(sql); token; token = tokens.exec(sql)) {
    const [text, start] = token;
    if (start) tokens.lastIndex = endOf(sql, tokens.lastIndex, start, database);
    else yield text.toUpperCase();
  }
}

function endOf(sql: string, from: number, start: string, database: DatabaseKind): number {
  const end = ENDS[start.toLowerCase()] ?? start;
  const parts = database === 'postgres' ? PARTS[start.toLowerCase()] : undefined;
  let depth = 1;
  for (const { 0: part, index } of parts ? sql.slice(from).matchAll(parts) : []) {
    depth += part === end ? -1 : Number(part === start);
    if (depth === 0) return from + index + end.length;
  }
  const first = sql.indexOf(end, from);
  return first < 0 ? sql.length : first + end.length;
}
