import { Inject, Injectable } from '@nestjs/common';
import { selectWhereIn } from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { isEventId } from './audit-event.js';
import type { ACTOR_KINDS, AuditChange, AuditRecord, Party, TARGET_KINDS } from './audit-event.js';

type Kind = (typeof ACTOR_KINDS | typeof TARGET_KINDS)[number];

/** Table and columns that contain the names of one kind of actor or target. */
interface NameSource {
  table: string;
  id: string;
  name: string;
}

/** Returns the current name of an actor or target, or an empty string if it lacks a name or was deleted. */
export type NameResolver = (party: Party) => string;

/** Looks up current names, because audit events contain only ids. Each feature registers the tables with its names. */
@Injectable()
export class AuditNames {
  private readonly sources = new Map<string, NameSource>();

  constructor(@Inject(DATABASE) private readonly database: Database) {}

  register(kinds: readonly Kind[], source: NameSource): void {
    for (const kind of kinds) this.sources.set(kind, source);
  }

  /** Returns the smallest id of all users and API keys, if there are any. An id contains its creation time. */
  async findFirstId(): Promise<string | undefined> {
    const ids: string[] = [];
    for (const { table, id } of ['user', 'api_key'].flatMap((kind) => this.sources.get(kind) ?? [])) {
      const sql = `SELECT ${id} AS id FROM ${table} ORDER BY ${id} LIMIT 1`;
      ids.push(...(await this.database.query<{ id: string }>(sql)).map((row) => row.id));
    }
    return ids.filter(isEventId).sort()[0];
  }

  loadNames(records: readonly AuditRecord[]): Promise<NameResolver> {
    return this.loadPartyNames(records.flatMap(partiesOf));
  }

  async loadPartyNames(parties: readonly Party[]): Promise<NameResolver> {
    const idsBySource = new Map<NameSource, Set<string>>();
    for (const { kind, id } of parties) {
      const source = this.sources.get(kind);
      if (source && id !== null) idsBySource.set(source, (idsBySource.get(source) ?? new Set()).add(id));
    }
    const names = new Map<string, string>();
    for (const [{ table, id, name }, ids] of idsBySource) {
      const columns = `${id} AS id, ${name} AS name`;
      const toSql = (list: string) => `SELECT ${columns} FROM ${table} WHERE ${id} IN (${list})`;
      const rows = await selectWhereIn<{ id: string; name: string }>(this.database, [...ids], toSql);
      for (const row of rows) names.set(row.id, row.name);
    }
    return ({ id, name = '' }) => names.get(id ?? '') ?? name;
  }
}

function partiesOf({ actor, target, changes }: AuditRecord): Party[] {
  const parties = [actor, actor.started_by, actor.approved_by, target, ...changes.flatMap(usersOf)];
  return parties.filter((party) => party !== undefined);
}

const usersOf = (change: AuditChange): Party[] => findUserIds(change).map((id) => ({ kind: 'user', id }));

/** Fields that contain the uuid of a user. */
const USER_FIELDS = ['manager_uuid', 'user_uuid'];

export function findUserIds({ field, old, new: value }: AuditChange): string[] {
  if (!USER_FIELDS.includes(field)) return [];
  return [old, value].filter((uuid) => typeof uuid === 'string' && uuid !== '') as string[];
}

/**
 * Returns the usernames for the old and the new value of a change, if they are UUIDs of users.
 * @param usernameOf returns the current username, or an empty string for a deleted user.
 */
export function findUserNames(change: AuditChange, usernameOf: (uuid: string) => string) {
  const names = new Map<unknown, string>(findUserIds(change).map((uuid) => [uuid, usernameOf(uuid)]));
  const [before, after] = [names.get(change.old), names.get(change.new)];
  return {
    ...(before !== undefined && { old_name: before }),
    ...(after !== undefined && { new_name: after }),
  };
}
