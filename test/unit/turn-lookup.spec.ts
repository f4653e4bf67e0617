import { expect, test } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import type { SqlValue } from '../../src/platform/database/engine/sql.js';
import { TurnLookup } from '../../src/platform/database/turn-lookup.js';
import { createRandom } from '../support/data/random.js';

interface Row {
  id: string;
  version: string | undefined;
}

const KEYS = Array.from({ length: 70 }, (_, number) => `key ${number}`);

/** A database that waits a random time before it reads the rows of a statement, and again before it returns them. */
class SlowDatabase {
  readonly dialect = 'mysql';
  readonly statements: (readonly SqlValue[])[] = [];
  failures = 0;
  readonly random = createRandom(this.seed);
  private time = 0;
  /** Times and versions of each key, oldest first. A deleted row has no version. */
  private readonly history = new Map<string, { from: number; version: Row['version'] }[]>(
    KEYS.map((id) => [id, [{ from: 0, version: id }]]),
  );
  readonly query = (_: string, keys: readonly SqlValue[] = []) => this.load(keys) as Promise<never[]>;
  private readonly lookup = new TurnLookup<Row>(this, 'id', 'SELECT id FROM rows');

  constructor(private readonly seed: number) {}

  readonly find = (key: string): Promise<Row | undefined> => this.lookup.find(key);

  /** Changes, deletes or recreates a row. */
  change(key: string): void {
    const from = ++this.time;
    this.history.get(key)?.push({ from, version: this.random(2) ? `${key} at ${from}` : undefined });
  }

  async pause(): Promise<void> {
    for (let left = this.random(4); left > 0; left--) await (this.random(2) ? setImmediate() : undefined);
  }

  /** Finds a row. Returns true if the row had the returned version at a moment between the call and its result. */
  async isFoundInTime(key: string): Promise<boolean> {
    const asked = this.time;
    const row = await this.find(key);
    const versions = this.history.get(key) ?? [];
    const valid = versions.filter((_, at) => (versions[at + 1]?.from ?? Infinity) > asked);
    return valid.some(({ version }) => version === row?.version);
  }

  private async load(keys: readonly SqlValue[]): Promise<Row[]> {
    this.statements.push(keys);
    if (this.failures-- > 0) throw new Error('the database is away');
    await this.pause();
    const rows = KEYS.map((id) => ({ id, version: this.history.get(id)?.at(-1)?.version })).toReversed();
    await this.pause();
    return rows.filter(({ id, version }) => keys.includes(id) && version !== undefined);
  }
}

test.each([1, 2, 3, 4, 5])('a row is never older than its look-up (seed %i)', async (seed) => {
  const database = new SlowDatabase(seed);
  const pickKey = (): string => KEYS[database.random(KEYS.length)] ?? '';
  const outdated: string[] = [];
  const serve = async (): Promise<void> => {
    for (let requests = 0; requests < 30; requests++) {
      await database.pause();
      database.change(pickKey());
      const key = pickKey();
      if (!(await database.isFoundInTime(key))) outdated.push(key);
    }
  };
  await Promise.all(Array.from({ length: 100 }, serve));
  expect(outdated).toEqual([]);
  expect(database.statements.length).toBeLessThan(1500); // for 3,000 look-ups
});

test('look-ups in one turn of the event loop share statements, padded to a power of two, at most 64 keys', async () => {
  const database = new SlowDatabase(1);
  await Promise.all(['key 1', 'key 2', 'key 1', 'key 5'].map(database.find));
  await Promise.all(KEYS.map(database.find));
  const sizes = [KEYS.slice(0, 64), [...KEYS.slice(64), 'key 69', 'key 69']];
  expect(database.statements).toEqual([['key 1', 'key 2', 'key 5', 'key 5'], ...sizes]);
});

test('a failed statement rejects all its look-ups, but no look-up of the next turn of the event loop', async () => {
  const database = new SlowDatabase(1);
  database.failures = 1;
  const results = await Promise.allSettled(['key 1', 'key 2', 'key 1'].map(database.find));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(await database.isFoundInTime('key 1')).toBe(true);
});
