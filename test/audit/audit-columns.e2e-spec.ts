import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { ENGINE } from '../support/app/database.js';
import { databaseOf } from '../support/app/people.js';
import { FORMS, HOUR, MINUTE, SealedAudit, inForms } from '../support/app/sealed-audit.js';

/** A change of any column of the tables of the audit is found, and of what SQLite stores where a driver does not read it. */
let app: TestApp;
beforeEach(async () => void (app = await TestApp.start()));
afterEach(() => app.end());
const { seal, verify, execute, insert, sealedHours, isFound } = new SealedAudit(() => app);

const OTHER = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10';
const F64 = 'f'.repeat(64);
const OLD_TIME = '2020-01-01 00:00:00.000';

const EVENTS = {
  id: OTHER,
  time: OLD_TIME,
  actor_kind: 'key',
  actor_id: OTHER,
  action: 'user.blocked',
  target_kind: 'session',
  target_id: OTHER,
  changes: '[{"field":"phone","old":"","new":"1"}]',
  request_id: 'other',
  ip: '192.0.2.1',
};
const SEALS = {
  number: 77,
  sealed: OLD_TIME,
  until_id: OTHER,
  row_count: 3,
  rows_hash: F64,
  late_count: 1,
  late_hash: F64,
  purged: 1,
  key_id: '00000000',
  hash: F64,
  members: 'AAAAAAAA',
  members_hash: F64,
};
const RUNS = { run_id: OTHER, part: 'other', person_kind: 'user', person_id: OTHER };
const LATE = { id: OTHER, seal: 2, row_hash: F64 };

const names = (columns: object) => Object.keys(columns);
/** Texts in SQLite; numbers keep their type there whatever is written, apart from bytes. */
const texts = (columns: object) =>
  Object.entries(columns).flatMap(([name, value]) => (typeof value === 'string' ? name : []));

test('every column of the tables is in the lists of this test', async () => {
  const database = databaseOf(app);
  const tables = { audit_events: EVENTS, audit_seals: SEALS, audit_runs: RUNS, audit_late_events: LATE };
  for (const [table, columns] of Object.entries(tables)) {
    const found = await database.query<{ name: string }>(
      database.dialect === 'sqlite'
        ? `SELECT name FROM pragma_table_info('${table}')`
        : `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '${table}'`,
    );
    expect(found.map(({ name }) => name).sort()).toEqual(names(columns).sort());
  }
});

describe('events', () => {
  test.each(names(EVENTS))('another %s', async (column) => {
    const [, second] = await sealedHours();
    const value = EVENTS[column as keyof typeof EVENTS];
    await isFound(() => execute(`UPDATE audit_events SET ${column} = ? WHERE id = ?`, [value, second![1]!]));
  });
  if (ENGINE === 'sqlite') {
    test.each(names(EVENTS).flatMap((column) => FORMS.map((form) => [column, form] as const)))(
      '%s as %s, sealed or not',
      async (column, form) => {
        const [, second] = await sealedHours();
        const [open] = await insert(Date.now());
        await execute('UPDATE audit_events SET actor_id = ? WHERE id = ?', [OTHER, open!]);
        const value = form.replace('{}', `COALESCE(${column}, 'x')`);
        for (const id of [second![1]!, open!]) {
          const [before] = await databaseOf(app).query<{ hex: string; type: string }>(
            `SELECT hex(${column}) AS hex, typeof(${column}) AS type FROM audit_events WHERE id = ?`,
            [id],
          );
          const number = await databaseOf(app).query<{ n: number }>(
            'SELECT rowid AS n FROM audit_events WHERE id = ?',
            [id],
          );
          const rowid = number[0]!.n;
          await isFound(() =>
            execute(`UPDATE audit_events SET ${column} = ${value} WHERE rowid = ?`, [rowid]),
          );
          const restored = before!.type === 'null' ? 'NULL' : `CAST(x'${before!.hex}' AS TEXT)`;
          await execute(`UPDATE audit_events SET ${column} = ${restored} WHERE rowid = ?`, [rowid]);
        }
        expect((await verify()).fault).toBeNull();
      },
    );
    test('bytes that are no UTF-8 where the sign for such bytes was', async () => {
      const [, second] = await sealedHours();
      const [id] = await insert(Date.now());
      await execute('UPDATE audit_events SET ip = char(65533) WHERE id = ?', [id!]);
      for (const bytes of ['ff', 'f09f98', 'e282', 'c0', 'efbfbdff']) {
        await execute('UPDATE audit_events SET ip = char(65533) WHERE id = ?', [id!]);
        await isFound(() =>
          execute(`UPDATE audit_events SET ip = CAST(x'${bytes}' AS TEXT) WHERE id = ?`, [id!]),
        );
      }
      expect(second).toHaveLength(4);
    });
  }
});

describe('seals', () => {
  test.each(names(SEALS))('another %s', async (column) => {
    await sealedHours();
    const value = SEALS[column as keyof typeof SEALS];
    await isFound(() => execute(`UPDATE audit_seals SET ${column} = ? WHERE number = 2`, [value]));
  });
  test('without the list of its events', async () => {
    await sealedHours();
    await isFound(() => execute('UPDATE audit_seals SET members = NULL WHERE number = 2'));
  });
  test.each([-5, 0, 4000])('one more, of number %d', async (number) => {
    await sealedHours();
    await isFound(() =>
      execute(
        `INSERT INTO audit_seals SELECT ${names(SEALS).join(', ').replace('number', String(number))} FROM audit_seals WHERE number = 2`,
      ),
    );
  });
  if (ENGINE === 'sqlite') {
    test.each(texts(SEALS).flatMap((column) => FORMS.map((form) => [column, form] as const)))(
      '%s as %s',
      async (column, form) => {
        await sealedHours();
        await isFound(() =>
          execute(`UPDATE audit_seals SET ${column} = ${form.replace('{}', column)} WHERE number = 2`),
        );
      },
    );
  }
});

describe('entries of late events', () => {
  const END = Math.floor(Date.now() / HOUR) * HOUR - 2 * HOUR;
  async function late(): Promise<string> {
    await execute('DELETE FROM audit_events');
    await insert(END - 2 * MINUTE, 3);
    await seal(END + 6 * MINUTE);
    const [id] = await insert(END - MINUTE);
    await seal(END + HOUR + 6 * MINUTE);
    expect((await verify()).late).toBe(1);
    return id!;
  }
  test.each(names(LATE))('another %s', async (column) => {
    const id = await late();
    const value = column === 'seal' ? 1 : LATE[column as keyof typeof LATE];
    await isFound(() => execute(`UPDATE audit_late_events SET ${column} = ? WHERE id = ?`, [value, id]));
  });
  test('taken out', async () => {
    await late();
    await isFound(() => execute('DELETE FROM audit_late_events'));
  });
  test('taken out with their rows', async () => {
    const id = await late();
    await isFound(async () => {
      await execute('DELETE FROM audit_late_events');
      await execute('DELETE FROM audit_events WHERE id = ?', [id]);
    });
  });
  if (ENGINE === 'sqlite') {
    test.each(inForms(texts(LATE)))('%s as %s', async (column, form) => {
      const id = await late();
      const sql = `UPDATE audit_late_events SET ${column} = ${form.replace('{}', column)} WHERE id = ?`;
      await isFound(() => execute(sql, [id]));
    });
  }
});
