import { expect } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import type { SealedRow } from '../../../src/audit/seal.js';
import { type AuditReport, SealVerifier } from '../../../src/audit/seal-verifier.service.js';
import { Sealer } from '../../../src/audit/sealer.service.js';
import type { Sql } from '../../../src/platform/database/engine/sql.js';
import type { TestApp } from './app.js';
import { databaseOf } from './people.js';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
interface Seal {
  number: number;
  row_count: number;
  late_count: number;
  sealed: string;
  hash: string;
}

export const faultOf = ({ fault }: AuditReport) => [fault?.seal, fault?.message];
/** Returns the ids of rows that do not match their seal. */
export const badIdsOf = ({ bad }: AuditReport) => bad.map(({ id }) => id).sort();
const toTime = (millis: number) => new Date(millis).toISOString().replace('T', ' ').slice(0, 23);

/** Builds an audit event with a time. */
export const eventAt = (millis: number, fields: Partial<SealedRow> = {}): SealedRow => ({
  id: uuidv7({ msecs: millis }),
  time: toTime(millis),
  actor_kind: 'system',
  actor_id: null,
  action: 'user.updated',
  target_kind: 'user',
  target_id: uuidv7(),
  changes: '[]',
  request_id: 'r',
  ip: '',
  ...fields,
});

/** Inserts events unchanged, in one call. */
export async function insertEvents(sql: Sql, events: readonly SealedRow[]): Promise<void> {
  const columns = Object.keys(eventAt(0));
  await sql.insert({ name: 'audit_events', columns }, events.map(Object.values));
}

/** SQL expressions that store a changed value in SQLite, although a driver reads the same text. */
export const DISGUISES = ["{} || char(0) || 'x'", 'CAST({} AS BLOB)', '{} || char(0)'];

/**
 * Returns a time when the current hour and `more` further hours can be sealed. It is counted from the start of the
 * current hour, because an hour is sealed some minutes after its end.
 */
export const sealTimeAfter = (more = 0): number =>
  Math.floor(Date.now() / HOUR) * HOUR + (more + 1) * HOUR + 6 * MINUTE;

/** The audit of the current application of a test, with its seals. */
export class SealedAudit {
  constructor(private readonly app: () => TestApp) {}

  /** Seals the hours that had ended at a time. */
  seal = (millis: number) => this.app().app.get(Sealer).sealEndedHours(millis);
  verify = (...expected: Parameters<SealVerifier['verify']>) =>
    this.app()
      .app.get(SealVerifier)
      .verify(...expected);
  execute = (sql: string, params: (string | number | null)[] = []) =>
    databaseOf(this.app()).execute(sql, params);
  readSeals = () =>
    databaseOf(this.app()).query<Seal>(
      'SELECT number, row_count, late_count, sealed, hash FROM audit_seals ORDER BY number',
    );

  /** Inserts events with the same time. @returns their ids. */
  insert = async (millis: number, count = 1): Promise<string[]> => {
    const ids = Array.from({ length: count }, (_, i) => uuidv7({ msecs: millis, seq: i * 8 }));
    await this.insertIds(millis, ids);
    return ids;
  };

  /** Inserts events with a time and the given ids. */
  insertIds = async (millis: number, ids: readonly string[]): Promise<void> => {
    const events = ids.map((id) => eventAt(millis, { id }));
    await insertEvents(databaseOf(this.app()), events);
  };

  /** Inserts and seals three hours with four events each. @returns the ids by hour. */
  sealHours = async (): Promise<string[][]> => {
    const begin = Math.floor(Date.now() / HOUR) * HOUR - 4 * HOUR;
    const ids = [];
    for (const hour of [0, 1, 2]) ids.push(await this.insert(begin + hour * HOUR + 1000, 4));
    await this.seal(Date.now());
    return ids;
  };

  /** Expects the audit to verify before a change and to fail after it. @returns the wrong seal and the message. */
  expectFault = async (change: () => Promise<unknown>): Promise<ReturnType<typeof faultOf>> => {
    expect(await this.verify()).toMatchObject({ fault: null, bad_count: 0 });
    await change();
    const verdict = await this.verify();
    expect(verdict.fault).not.toBeNull();
    return faultOf(verdict);
  };
}
