import { expect } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { type Verdict, SealVerifier } from '../../../src/audit/seal-verifier.service.js';
import { Sealer } from '../../../src/audit/sealer.service.js';
import type { TestApp } from './app.js';
import { databaseOf } from './people.js';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const INSERT_EVENTS =
  'INSERT INTO audit_events (id, time, actor_kind, actor_id, action, target_kind, target_id, changes, request_id, ip) VALUES';

interface Seal {
  number: number;
  row_count: number;
  late_count: number;
  sealed: string;
  hash: string;
}

export const faultOf = ({ fault }: Verdict) => [fault?.seal, fault?.message];
/** The ids of single rows that do not fit. */
export const badOf = ({ bad }: Verdict) => bad.map(({ id }) => id).sort();
const time = (millis: number) => new Date(millis).toISOString().replace('T', ' ').slice(0, 23);

/** An event of a moment. */
export const rowOf = (millis: number, id = uuidv7({ msecs: millis })) => [
  id,
  time(millis),
  'system',
  null,
  'user.updated',
  'user',
  uuidv7(),
  '[]',
  'r',
  '',
];

/** What SQLite can store in place of a text without a reader of texts seeing it. */
export const FORMS = ["{} || char(0) || 'x'", 'CAST({} AS BLOB)', '{} || char(0)'];
export const inForms = (columns: readonly string[]) =>
  columns.flatMap((column) => FORMS.map((form) => [column, form] as const));

/**
 * A moment by which the running hour and some more are sealed. From the end of the hour: two hours from now may be one hour
 * less in its first minutes, when the hour before may not be sealed yet.
 */
export const afterHours = (more = 0): number =>
  Math.floor(Date.now() / HOUR) * HOUR + (more + 1) * HOUR + 6 * MINUTE;

/** The audit of the application that a test has at the moment, with its seals. */
export class SealedAudit {
  constructor(private readonly app: () => TestApp) {}

  /** Seals the hours that had ended at a moment. */
  seal = (millis: number) => this.app().app.get(Sealer).run(millis);
  verify = (...expected: Parameters<SealVerifier['verify']>) =>
    this.app()
      .app.get(SealVerifier)
      .verify(...expected);
  execute = (sql: string, params: (string | number | null)[] = []) =>
    databaseOf(this.app()).execute(sql, params);
  seals = () =>
    databaseOf(this.app()).query<Seal>(
      'SELECT number, row_count, late_count, sealed, hash FROM audit_seals ORDER BY number',
    );

  /** Events of a moment. @returns their ids. */
  insert = async (millis: number, count = 1): Promise<string[]> => {
    const ids = Array.from({ length: count }, (_, i) => uuidv7({ msecs: millis, seq: i * 8 }));
    await this.insertIds(millis, ids);
    return ids;
  };

  /** Events of a moment with other ids. */
  insertIds = async (millis: number, ids: readonly string[]): Promise<void> => {
    const rows = ids.map((id) => rowOf(millis, id));
    await databaseOf(this.app()).insert({ head: INSERT_EVENTS, columns: 10, tail: '' }, rows);
  };

  /** Three hours of four events each, sealed. @returns the ids, hour by hour. */
  sealedHours = async (): Promise<string[][]> => {
    const begin = Math.floor(Date.now() / HOUR) * HOUR - 4 * HOUR;
    const ids = [];
    for (const hour of [0, 1, 2]) ids.push(await this.insert(begin + hour * HOUR + 1000, 4));
    await this.seal(Date.now());
    return ids;
  };

  /** Good before a change, found afterwards. */
  isFound = async (change: () => Promise<unknown>): Promise<void> => {
    expect(await this.verify()).toMatchObject({ fault: null, bad_count: 0 });
    await change();
    expect((await this.verify()).fault).not.toBeNull();
  };
}
