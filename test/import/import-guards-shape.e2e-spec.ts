import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app.js';
import type { Json } from '../support/client.js';
import { csv, imported } from '../support/imports.js';

/** What the guards see in the shape of a change: disasters are parked, ordinary nights pass. */
let app: TestApp;
let n = 0;
let dataset = '';
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());
beforeEach(() => void (dataset = `s${++n}`));

const COLUMNS = [
  'ExternalId',
  'Username',
  'Email',
  'ForeName',
  'Surname',
  'Phone',
  'Mobile',
  'Authname',
  'Roles',
  'Manager',
  'HideEmail',
  'Linkedin',
  'KnownAs',
  'Status',
] as const;
type Column = (typeof COLUMNS)[number];
type Person = Record<Column, string>;

const FORENAMES = ['Ann', 'José', 'Zoë', 'Bjørn', 'Eve', 'François', 'Grace', 'Jürgen', 'Ida'];
const SURNAMES = ['Müller', 'Sørensen', 'Núñez', 'Smith', 'Łukasiewicz', 'Weiß', 'Jones', 'Åberg'];
const at = (list: readonly string[], index: number): string => list[index % list.length] ?? '';
const three = (index: number): string => String(index).padStart(3, '0');

/** Somebody of a data set; every tenth is a manager of the nine after them. */
function person(i: number): Person {
  const id = `${dataset}-${three(i)}`;
  return {
    ExternalId: id,
    Username: `${dataset}.u${three((i * 37) % 1000)}`,
    Email: `${dataset}.m${three((i * 53) % 1000)}@example.org`,
    ForeName: at(FORENAMES, i * 5),
    Surname: `${at(SURNAMES, i * 3)}${i > 40 ? '' : at(['son', 'mann'], i)}`,
    Phone: `+4420 7946 ${String(1000 + ((i * 71) % 1000))}`,
    Mobile: `+4477 0090 ${String(1000 + ((i * 31) % 1000))}`,
    Authname: `${dataset}/a${three((i * 91) % 1000)}`,
    Roles: i % 10 === 0 ? 'Section manager' : 'Publisher',
    Manager: i % 10 === 0 ? '' : `${dataset}-${three(i - (i % 10))}`,
    HideEmail: i % 20 === 0 ? 'true' : 'false',
    Linkedin: `https://linkedin.com/in/${id}`,
    KnownAs: i % 12 === 0 ? `Nick${i}` : '',
    Status: 'Active',
  };
}

const people = (count: number, from = 0): Person[] =>
  Array.from({ length: count }, (_, i) => person(i + from));
const fileOf = (list: readonly Person[], columns: readonly Column[] = COLUMNS): string =>
  csv(columns.join(','), ...list.map((one) => columns.map((column) => `"${one[column]}"`).join(',')));
const load = async (
  list: readonly Person[],
  options = '',
  columns = COLUMNS as readonly Column[],
): Promise<Json> => imported(app.key, fileOf(list, columns), `dataset=${dataset}${options}`);
const hits = (run: Json): string[] =>
  (run.guards as Json[])
    .filter(({ hit }) => hit)
    .map(({ name, field }) => (field === null ? name : `${name as string}:${field as string}`));

/** Some people with some of their fields changed. */
const with_ = (
  list: Person[],
  change: (one: Person, i: number, all: Person[]) => Partial<Person>,
): Person[] => list.map((one, i) => ({ ...one, ...change(one, i, list) }));
/** A column whose values are put to other rows. */
const rearranged = (list: Person[], column: Column, order: (values: string[]) => string[]): Person[] => {
  const values = order(list.map((one) => one[column]));
  return with_(list, (_, i) => ({ [column]: at(values, i) }));
};
const slid = (values: string[]): string[] => [...values.slice(-1), ...values.slice(0, -1)];
const sorted = (values: string[]): string[] => [...values].sort();
/** Only the first rows. */
const partly = (list: Person[], rows: number, change: (part: Person[]) => Person[]): Person[] => [
  ...change(list.slice(0, rows)),
  ...list.slice(rows),
];
const latin = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
const ascii = (text: string): string => text.replace(/[^\0-\x7f]/g, '?');
const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '');

/** [what, people before, the file, a guard that it hits, options] */
const DISASTERS: [string, number, (list: Person[]) => Person[], string, string?][] = [
  [
    'the Authname column sorted alone',
    100,
    (l) => rearranged(l, 'Authname', sorted),
    'moved_values:authname',
  ],
  ['the Username column slid by a row', 100, (l) => rearranged(l, 'Username', slid), 'moved_values:username'],
  ['the Email column sorted alone', 100, (l) => rearranged(l, 'Email', sorted), 'changed_field:email'],
  [
    'five phones slid by a row',
    100,
    (l) => partly(l, 5, (p) => rearranged(p, 'Phone', slid)),
    'moved_values:phone',
  ],
  [
    'four usernames swapped in pairs',
    100,
    (l) => partly(l, 4, (p) => rearranged(p, 'Username', (v) => [...v].reverse())),
    'moved_values:username',
  ],
  ['the surnames slid by a row', 100, (l) => rearranged(l, 'Surname', slid), 'changed_field:surname'],
  [
    'everybody a section manager',
    100,
    (l) => with_(l, () => ({ Roles: 'Section manager;Publisher' })),
    'changed_field:roles',
  ],
  [
    'a seventh of all are section managers',
    70,
    (l) => with_(l, (_, i) => (i % 7 === 3 ? { Roles: 'Section manager;Publisher' } : {})),
    'changed_field:roles',
  ],
  [
    'surname and forename swapped',
    100,
    (l) => with_(l, (p) => ({ ForeName: p.Surname, Surname: p.ForeName })),
    'changed_field:surname',
  ],
  [
    'phone and mobile swapped',
    100,
    (l) => with_(l, (p) => ({ Phone: p.Mobile, Mobile: p.Phone })),
    'changed_field:phone',
  ],
  [
    'one manager for all',
    100,
    (l) => with_(l, (_, i) => (i === 0 ? {} : { Manager: `${dataset}-000` })),
    'changed_field:manager_uuid',
  ],
  ['nobody has a manager', 100, (l) => with_(l, () => ({ Manager: '' })), 'emptied_field:manager_uuid'],
  ['one surname for all', 100, (l) => with_(l, () => ({ Surname: 'Surname' })), 'same_value:surname'],
  ['a phone of 0 for all', 100, (l) => with_(l, () => ({ Phone: '0' })), 'same_value:phone'],
  ['accents lost to ?', 100, (l) => with_(l, (p) => ({ Surname: ascii(p.Surname) })), 'garbled_text:surname'],
  ['accents dropped', 100, (l) => with_(l, (p) => ({ Surname: plain(p.Surname) })), 'garbled_text:surname'],
  [
    'text encoded twice',
    100,
    (l) => with_(l, (p) => ({ ForeName: latin(p.ForeName) })),
    'garbled_text:firstname',
  ],
  [
    'four names encoded twice',
    100,
    (l) => with_(l, (p, i) => (i < 12 ? { Surname: latin(p.Surname) } : {})),
    'garbled_text:surname',
  ],
  ['the phones emptied', 100, (l) => with_(l, () => ({ Phone: '' })), 'emptied_field:phone'],
  [
    'the profiles emptied',
    100,
    (l) => with_(l, () => ({ Linkedin: '' })),
    'emptied_field:social_media.linkedin',
  ],
  [
    'HideEmail turned round',
    100,
    (l) => with_(l, (p) => ({ HideEmail: p.HideEmail === 'true' ? 'false' : 'true' })),
    'changed_field:hide_email',
  ],
  [
    'six blocked of fifty',
    50,
    (l) => with_(l, (_, i) => (i < 6 ? { Status: 'Blocked' } : {})),
    'deactivations',
  ],
  ['six missing of fifty', 50, (l) => l.slice(6), 'deactivations', '&missing=block'],
  ['half of the file', 50, (l) => l.slice(25), 'shrunken_file', '&missing=block'],
  [
    'ids in another form',
    50,
    (l) => with_(l, (p) => ({ ExternalId: `0${p.ExternalId}`, Manager: '' })),
    'errors',
  ],
  [
    'addresses without a domain',
    100,
    (l) => with_(l, (p, i) => (i < 12 ? { Email: p.Username } : {})),
    'errors',
  ],
  // Small offices
  [
    'nineteen: everybody a section manager',
    19,
    (l) => with_(l, () => ({ Roles: 'Section manager;Publisher' })),
    'changed_field:roles',
  ],
  ['nineteen: the phones emptied', 19, (l) => with_(l, () => ({ Phone: '' })), 'emptied_field:phone'],
  [
    'nineteen: surname and forename swapped',
    19,
    (l) => with_(l, (p) => ({ ForeName: p.Surname, Surname: p.ForeName })),
    'changed_field:firstname',
  ],
  [
    'nineteen: four blocked',
    19,
    (l) => with_(l, (_, i) => (i < 4 ? { Status: 'Blocked' } : {})),
    'deactivations',
  ],
  ['eight: half of them missing', 8, (l) => l.slice(4), 'deactivations', '&missing=block'],
  ['eight: usernames slid by a row', 8, (l) => rearranged(l, 'Username', slid), 'moved_values:username'],
  ['eight: one surname for all', 8, (l) => with_(l, () => ({ Surname: 'Surname' })), 'changed_field:surname'],
];

test.each(DISASTERS)('disaster: %s', async (_, count, change, guard, options = '') => {
  expect((await load(people(count))).state).toBe('completed');
  const run = await load(change(people(count)), options);
  expect(hits(run)).toContain(guard);
  expect(run.state).toBe('needs_approval');
});

const hired = (count: number): Person[] =>
  people(count, 500).map((one) => ({ ...one, Manager: `${dataset}-000` }));

/** [what, people before, the file, options] */
const NIGHTS: [string, number, (list: Person[]) => Person[], string?][] = [
  ['nothing new', 100, (l) => l],
  ['other order of rows', 100, (l) => [...l].reverse()],
  ['thirty new people', 100, (l) => [...l, ...hired(30)]],
  ['a new department doubles the data set', 50, (l) => [...l, ...hired(60)]],
  ['three leavers and three hires', 100, (l) => [...l.slice(3), ...hired(3)], '&missing=block'],
  ['ten leavers of a hundred', 100, (l) => l.slice(10), '&missing=block'],
  [
    'two weddings',
    100,
    (l) =>
      with_(l, (p, i) =>
        i < 2
          ? { Surname: `Bell${i}`, Email: `${dataset}.bell${i}@example.org`, Username: `${p.Username}.bell` }
          : {},
      ),
  ],
  ['one office moves', 100, (l) => with_(l, (_, i) => (i < 20 ? { Phone: `+4430 1111 ${1000 + i}` } : {}))],
  ['two colleagues swap desks', 100, (l) => partly(l, 2, (p) => rearranged(p, 'Phone', slid))],
  [
    'a new manager for one team',
    100,
    (l) => with_(l, (p, i) => (i > 90 ? { Manager: `${dataset}-080` } : {})),
  ],
  ['five promotions', 100, (l) => with_(l, (_, i) => (i < 5 ? { Roles: 'Section manager;Publisher' } : {}))],
  ['a blocked person returns', 100, (l) => with_(l, () => ({}))],
  [
    'two accents corrected, one lost',
    100,
    (l) => with_(l, (p, i) => (i < 3 ? { Surname: ['Jönsson', 'Bélanger', plain(p.Surname)][i] ?? '' } : {})),
  ],
  ['four broken rows', 100, (l) => with_(l, (_, i) => (i < 4 ? { Email: 'nobody' } : {}))],
  [
    'eight: a wedding and a new phone',
    8,
    (l) =>
      with_(l, (_, i) =>
        i === 1
          ? { Surname: 'Bell', Email: `${dataset}.bell@example.org` }
          : i === 2
            ? { Phone: '+4430 9' }
            : {},
      ),
  ],
  ['eight: two leave, two come', 8, (l) => [...l.slice(0, 6), ...hired(2)], '&missing=block'],
  ['eight: one hire', 8, (l) => [...l, ...hired(1)], '&missing=block'],
  ['eight: a leaver', 8, (l) => l.slice(0, 7), '&missing=block'],
  ['three: one hire', 3, (l) => [...l, ...hired(1)], '&missing=block'],
  ['three: one leaves', 3, (l) => l.slice(0, 2), '&missing=block'],
];

test.each(NIGHTS)('ordinary night: %s', async (_, count, change, options = '') => {
  expect((await load(people(count))).state).toBe('completed');
  const run = await load(change(people(count)), options);
  expect([hits(run), run.state.slice(0, 9)]).toEqual([[], 'completed']);
});

describe('a first column', () => {
  const few = ['ExternalId', 'Username', 'Email', 'ForeName', 'Surname'] as const;
  test.each<[string, Column[], (list: Person[]) => Person[]]>([
    ['with a value for each', ['Phone'], (l) => l],
    ['with one value for all', ['Phone'], (l) => with_(l, () => ({ Phone: '+44 20 7946 0000' }))],
    ['of yes and no', ['HideEmail'], (l) => with_(l, (_, i) => ({ HideEmail: String(i % 3 === 0) }))],
    ['of managers', ['Manager'], (l) => l],
    ['of authnames', ['Authname'], (l) => l],
  ])('%s passes', async (_, added, change) => {
    await load(people(60), '', few);
    const run = await load(change(people(60)), '', [...few, ...added]);
    expect([hits(run), run.state]).toEqual([[], 'completed']);
  });
});

describe('a first file', () => {
  test.each<[string, (list: Person[]) => Person[], string[]]>([
    ['of ordinary people passes', (l) => l, []],
    [
      'of a company with one switchboard passes',
      (l) => with_(l, () => ({ Phone: '+44 20 7946 0000', Manager: '' })),
      [],
    ],
    ['of one surname is parked', (l) => with_(l, () => ({ Surname: 'Surname' })), ['same_value:surname']],
    ['encoded twice is parked', (l) => with_(l, (p) => ({ Surname: latin(p.Surname) })), ['garbled_text']],
    [
      'with ? for accents is parked',
      (l) => with_(l, (p) => ({ ForeName: ascii(p.ForeName) })),
      ['garbled_text'],
    ],
  ])('%s', async (_, change, guards) => {
    const run = await load(change(people(60)));
    if (guards.length === 0) expect([hits(run), run.state]).toEqual([[], 'completed']);
    else expect([hits(run), run.state]).toEqual([expect.arrayContaining(guards), 'needs_approval']);
  });
});

test('a hit names field, value, limit, five rows before and after, and what it means', async () => {
  await load(people(50));
  const run = await load(rearranged(people(50), 'Phone', slid));
  const guard = (run.guards as Json[]).find(({ name }) => name === 'changed_field') as Json;
  expect(guard).toMatchObject({ field: 'phone', value: 50, limit: 10, hit: true });
  expect(guard.hint).toMatch(/^Many people get another value in this column.*\.$/);
  expect(guard.examples).toHaveLength(5);
  expect(guard.examples[1]).toEqual({
    line: 3,
    external_id: `${dataset}-001`,
    old: person(1).Phone,
    new: person(0).Phone,
  });
  expect(
    run.guards.filter(({ hit }: Json) => !hit).every(({ examples }: Json) => examples.length === 0),
  ).toBe(true);
});
