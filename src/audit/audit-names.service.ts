import { Inject, Injectable } from '@nestjs/common';
import { selectIn } from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import type { ACTOR_KINDS, AuditChange, AuditRecord, Party, TARGET_KINDS } from './audit-event.js';

type Kind = (typeof ACTOR_KINDS | typeof TARGET_KINDS)[number];

/** Where the names of a kind of records are stored. */
interface Source {
  table: string;
  id: string;
  /** A column, or an expression of one. */
  name: string;
}

/** The name of a party today; empty where it has none or was deleted. */
export type NameOf = (party: Party) => string;

/**
 * Names for the ids in events. They are looked up when events are read, so the audit keeps no name that a user no longer has. Each feature says where its names are; all of one kind cost one statement.
 */
@Injectable()
export class AuditNames {
  private readonly sources = new Map<string, Source>();

  constructor(@Inject(DATABASE) private readonly database: Database) {}

  add(kinds: readonly Kind[], source: Source): void {
    for (const kind of kinds) this.sources.set(kind, source);
  }

  /** The names of everybody and everything in these events. */
  async of(records: readonly AuditRecord[]): Promise<NameOf> {
    const wanted = new Map<Source, Set<string>>();
    for (const { kind, id } of records.flatMap(partiesOf)) {
      const source = this.sources.get(kind);
      if (source && id !== null) wanted.set(source, (wanted.get(source) ?? new Set()).add(id));
    }
    const names = new Map<string, string>();
    for (const [{ table, id, name }, ids] of wanted) {
      const text = (list: string) =>
        `SELECT ${id} AS id, ${name} AS name FROM ${table} WHERE ${id} IN (${list})`;
      const rows = await selectIn<{ id: string; name: string }>(this.database, [...ids], text);
      for (const row of rows) names.set(row.id, row.name);
    }
    return ({ id }) => names.get(id ?? '') ?? '';
  }
}

const partiesOf = ({ actor, target, changes }: AuditRecord): Party[] =>
  [actor, actor.started_by, actor.approved_by, target, ...changes.flatMap(usersOf)].filter(
    (party) => party !== undefined,
  );

const usersOf = (change: AuditChange): Party[] => usersNamedBy(change).map((id) => ({ kind: 'user', id }));

/** The usernames of the users that a change names, where it names any. */
export interface SideNames {
  old_name?: string;
  new_name?: string;
}

/** Fields whose values are uuids of users. */
const USER_FIELDS: readonly string[] = ['manager_uuid'];

/** The uuids of the users that a change names. */
export function usersNamedBy({ field, old, new: value }: AuditChange): string[] {
  if (!USER_FIELDS.includes(field)) return [];
  return [old, value].filter((uuid) => typeof uuid === 'string' && uuid !== '') as string[];
}

/** @param usernameOf a uuid → the name today; empty for a user who is deleted. */
export function sideNames(change: AuditChange, usernameOf: (uuid: string) => string): SideNames {
  const names = new Map<unknown, string>(usersNamedBy(change).map((uuid) => [uuid, usernameOf(uuid)]));
  const [before, after] = [names.get(change.old), names.get(change.new)];
  return {
    ...(before !== undefined && { old_name: before }),
    ...(after !== undefined && { new_name: after }),
  };
}
