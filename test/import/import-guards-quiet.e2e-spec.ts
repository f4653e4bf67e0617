import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import {
  begin,
  dataset,
  people,
  load,
  hits,
  with_,
  rearranged,
  slid,
  partly,
  latin,
  ascii,
  plain,
  type Column,
  type Person,
} from './guard-people.js';

/** Ordinary nights and first files: no guard stops them. */
let app: TestApp;
let n = 0;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());
beforeEach(() => begin(app.key, `q${++n}`));

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
