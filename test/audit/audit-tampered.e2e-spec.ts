import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { ENGINE } from '../support/app/database.js';
import { databaseOf } from '../support/app/people.js';
import { DISGUISES, HOUR, MINUTE, SealedAudit, faultOf } from '../support/app/sealed-audit.js';

/** Verification finds a change of any column of the audit tables, also in bytes that the SQLite driver does not return. */
const app = setUpApp();
const { seal, verify, execute, readSeals, insert, expectFault } = new SealedAudit(() => app);

const OTHER = '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10';
const F64 = 'f'.repeat(64);
const OLD_TIME = '2020-01-01 00:00:00.000';

/** A different value for each column of each table. */
const TABLES = {
  audit_events: {
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
  },
  audit_seals: {
    number: 77,
    sealed: OLD_TIME,
    until_id: OTHER,
    row_count: 3,
    rows_hash: F64,
    late_count: 3,
    late_hash: F64,
    purged: 1,
    key_id: '00000000',
    hash: F64,
    members: 'AAAAAAAA',
    members_hash: F64,
  },
  audit_late_events: { id: OTHER, seal: 1, row_hash: F64 },
};
type Table = keyof typeof TABLES;
const columnsOf = (table: Table): string[] => Object.keys(TABLES[table]);

/** Three hours of four events, each with a seal, of which the second also covers a late event. The last event has no seal. */
const BEGIN = Math.floor(Date.now() / HOUR) * HOUR - 4 * HOUR;
const hours: string[][] = [];
let late: string;
let open: string;
/** Rows of each table after sealing. */
const stored = new Map<Table, Record<string, string | number | null>[]>();
beforeAll(async () => {
  await execute('DELETE FROM audit_events'); // events recorded by the start, which are later
  for (const hour of [0, 1, 2]) {
    hours.push(await insert(BEGIN + hour * HOUR + 1000, 4));
    if (hour === 1) [late] = (await insert(BEGIN + HOUR - MINUTE)) as [string];
    await seal(BEGIN + (hour + 1) * HOUR + 6 * MINUTE);
  }
  [open] = (await insert(Date.now())) as [string];
  await execute('UPDATE audit_events SET actor_id = ? WHERE id = ?', [OTHER, open]);
  for (const table of Object.keys(TABLES) as Table[])
    stored.set(table, await databaseOf(app).query(`SELECT * FROM ${table}`));
  expect(await verify()).toMatchObject({ seals: 3, rows: 13, late: 1 });
});
afterEach(async () => {
  for (const [table, rows] of stored) {
    const columns = columnsOf(table);
    await execute(`DELETE FROM ${table}`);
    await databaseOf(app).insert(
      { name: table, columns },
      rows.map((row) => columns.map((column) => row[column] ?? null)),
    );
  }
});

test('the tests of tampered audit tables cover every column', async () => {
  const database = databaseOf(app);
  for (const table of Object.keys(TABLES) as Table[]) {
    const found = await database.query<{ name: string }>(
      database.dialect === 'sqlite'
        ? `SELECT name FROM pragma_table_info('${table}')`
        : `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '${table}'`,
    );
    expect(found.map(({ name }) => name).sort()).toEqual(columnsOf(table).sort());
  }
});

const findFault = async (...statements: string[]): Promise<string> => {
  const fault = await expectFault(async () => {
    for (const sql of statements) await execute(sql);
  });
  return fault.join(': ');
};

/** Rows whose columns are changed one by one, with the expected seal and message. */
const ROWS: [what: string, table: Table, where: () => string, fault: RegExp][] = [
  [
    'a sealed event',
    'audit_events',
    () => `id = '${hours[1]![1]!}'`,
    /^2: (events were changed: their hash does not match|it covers 4 events, but 3 exist: events were removed)$/,
  ],
  [
    'a seal',
    'audit_seals',
    () => 'number = 2',
    /^2: (?:it|this seal).*(hash does not match|the hash of the list does not match|ends before the previous seal|AUDIT_SEAL_KEY does not contain)$|^3: .*are missing$/,
  ],
  [
    'the entry of a late event',
    'audit_late_events',
    () => `id = '${late}'`,
    /^[12]: its list of late events was changed$/,
  ],
];

describe.each(ROWS)('audit verification of %s', (_, table, where, fault) => {
  test.each(Object.entries(TABLES[table]))('finds a changed value of column %s', async (column, value) => {
    expect(await findFault(`UPDATE ${table} SET ${column} = '${value}' WHERE ${where()}`)).toMatch(fault);
  });
});

test('the fault for a changed event names the sealed hour', async () => {
  await execute("UPDATE audit_events SET ip = '192.0.2.1' WHERE id = ?", [hours[1]![1]!]);
  const { fault } = await verify();
  expect(fault?.from?.slice(14, 19)).toBe('00:00');
  expect(fault?.until?.slice(14, 19)).toBe('00:00');
});

const buildSealInsert = (number: number) =>
  `INSERT INTO audit_seals SELECT ${columnsOf('audit_seals').join(', ').replace('number', String(number))} FROM audit_seals WHERE number = 2`;
const EVENT_OUT = /^3: it covers 4 events, but 3 exist: events were removed$/;
const LATE_CHANGED = /^2: its list of late events was changed$/;

test.each<[what: string, fault: RegExp, statements: () => string[]]>([
  ['a removed event', EVENT_OUT, () => [`DELETE FROM audit_events WHERE id = '${hours[2]![3]!}'`]],
  [
    'a seal that was removed with its events',
    /^3: the previous seals, from 2 on, are missing$/,
    () => [
      'DELETE FROM audit_seals WHERE number = 2',
      `DELETE FROM audit_events WHERE id IN ('${hours[1]!.join("', '")}')`,
    ],
  ],
  ['events without any seal', /^: there are events but no seals/, () => ['DELETE FROM audit_seals']],
  [
    'an emptied audit',
    /^: .* but no event is that old: events were removed$/,
    () => Object.keys(TABLES).map((table) => `DELETE FROM ${table}`),
  ],
  [
    'a seal without the list of its events',
    /^2: its list of events was changed$/,
    () => ['UPDATE audit_seals SET members = NULL WHERE number = 2'],
  ],
  ...[-5, 0].map((number): [string, RegExp, () => string[]] => [
    `an additional seal with number ${number}`,
    new RegExp(`^${number}: its number is invalid: numbers start at 1$`),
    () => [buildSealInsert(number)],
  ]),
  ['an additional seal with number 4000', /^4000: .* from 4 on, are missing$/, () => [buildSealInsert(4000)]],
  ['a removed late-event entry', LATE_CHANGED, () => ['DELETE FROM audit_late_events']],
  [
    'a late-event entry that was removed with its event',
    LATE_CHANGED,
    () => ['DELETE FROM audit_late_events', `DELETE FROM audit_events WHERE id = '${late}'`],
  ],
])('audit verification finds %s', async (_, fault, statements) => {
  expect(await findFault(...statements())).toMatch(fault);
});

test('a separately stored seal reveals removed or rebuilt seals', async () => {
  const saved = (await readSeals()).at(-1)!;
  expect((await verify(saved)).fault).toBeNull();
  await execute('DELETE FROM audit_seals WHERE number >= ?', [saved.number]);
  expect((await verify()).fault).toBeNull();
  expect((await verify(saved)).fault?.message).toContain('is missing');
  await execute('DELETE FROM audit_seals');
  await execute('DELETE FROM audit_late_events');
  await execute("UPDATE audit_events SET ip = '192.0.2.9'");
  await seal(Date.now());
  expect((await verify()).fault).toBeNull();
  expect(faultOf(await verify(saved))).toEqual([
    saved.number,
    'its hash differs from the expected hash: the chain of seals was rebuilt',
  ]);
});

if (ENGINE === 'sqlite') {
  const OPEN = ['an event without a seal', 'audit_events', () => `id = '${open}'`] as const;
  /** Forged values for text columns only, because SQLite keeps the type of numbers for any value except bytes. */
  const FORGED = [...ROWS, OPEN].flatMap(([what, table, where]) =>
    Object.entries(TABLES[table]).flatMap(([column, value]) =>
      typeof value === 'string' ? DISGUISES.map((form) => [what, column, form, table, where] as const) : [],
    ),
  );
  test.each(FORGED)('verification of %s finds column %s set to %s', async (_, column, form, table, where) => {
    const value = form.replace('{}', `COALESCE(${column}, 'x')`);
    await findFault(`UPDATE ${table} SET ${column} = ${value} WHERE ${where()}`);
  });

  test.each(['ff', 'f09f98', 'e282', 'c0', 'efbfbdff'])(
    'audit verification finds U+FFFD changed to the bytes %s',
    async (bytes) => {
      await execute('UPDATE audit_events SET ip = char(65533) WHERE id = ?', [open]);
      await findFault(`UPDATE audit_events SET ip = CAST(x'${bytes}' AS TEXT) WHERE id = '${open}'`);
    },
  );
}
