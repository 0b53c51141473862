/** The JSON text of the first 20 pets, read once: what the constant servers answer with, whatever is asked. */
import Sqlite from 'better-sqlite3';

const db = new Sqlite(process.env.DATABASE_URL.replace('sqlite:', ''), { readonly: true });
const pets = db.prepare('SELECT id, name, category_id AS categoryId, status FROM pets ORDER BY id LIMIT 20').all();
db.close();

export const LIST = JSON.stringify(pets, (_name, value) => value ?? undefined);
