import { Inject, Injectable } from '@nestjs/common';
import { selectIn } from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import type { ACTOR_KINDS, AuditChange, AuditRecord, Party, TARGET_KINDS } from './audit-event.js';
import { usersNamedBy } from './named-change.js';

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
