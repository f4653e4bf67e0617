import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import {
  begin,
  dataset,
  person,
  people,
  load,
  hits,
  with_,
  rearranged,
  slid,
  sorted,
  partly,
  latin,
  ascii,
  plain,
  type Person,
} from './guard-people.js';

/** Disasters that a nightly file can be: the guards see them in the shape of the change. */
let app: TestApp;
let n = 0;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(async () => app.end());
beforeEach(() => begin(app.key, `s${++n}`));

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

test('a hit names field, value, limit, five rows before and after, and what it means', async () => {
  await load(people(50));
  const run = await load(rearranged(people(50), 'Phone', slid));
  const guard = (run.guards as Json[]).find(({ name }) => name === 'changed_field');
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
