/**
 * Clubs, members, and visits. The deletion of a club deletes its members; a member with visits cannot be deleted. Names
 * that differ only in case are equal.
 */
import type { AnyDescription } from '../../src/contract-first/store/tables/description.ts';

const clubs = {
  noun: 'club',
  schema: 'Club',
  table: 'clubs',
  columns: {
    id: { column: 'id', type: 'int64', set: 'id' },
    name: { column: 'name', type: 'text', ignoresCase: true },
  },
  lists: { equal: ['name'], prefix: ['name'], range: ['name'], orders: { byName: 'name' } },
  unique: [{ fields: ['name'], code: 'name_taken' }],
  errors: {},
  migrations: new URL('clubs/', import.meta.url),
} as const satisfies AnyDescription;

const members = {
  noun: 'member',
  schema: 'Member',
  table: 'members',
  columns: {
    email: { column: 'email', type: 'text', is: 'id' },
    clubId: { column: 'club_id', type: 'int64', of: 'clubs', onDelete: 'delete' },
    nickname: { column: 'nickname', type: 'text', isOptional: true, ignoresCase: true },
    position: { column: 'position', type: 'int64' },
  },
  lists: { equal: ['clubId', 'nickname'] },
  unique: [
    { fields: ['clubId', 'nickname'], code: 'nickname_taken' },
    { fields: ['clubId', 'position'], code: 'position_taken' },
  ],
  errors: {},
  migrations: new URL('members/', import.meta.url),
} as const satisfies AnyDescription;

const visits = {
  noun: 'visit',
  schema: 'Visit',
  table: 'visits',
  columns: {
    id: { column: 'id', type: 'int64', set: 'id' },
    member: { column: 'member', type: 'text', of: 'members' },
  },
  errors: {},
  migrations: new URL('visits/', import.meta.url),
} as const satisfies AnyDescription;

export const domain = { clubs, members, visits };
