import { describe, expect, test } from '@jest/globals';
import type { ScimObject } from '../../../src/scim/protocol/attribute.js';
import { ENTERPRISE_SCHEMA as E, USER_SCHEMA } from '../../../src/scim/protocol/urns.js';
import { BASE, HOME, WORK, patched } from './patched.js';
import { problemOf } from './resources.js';
import { service } from '../../support/jest/native.js';

const one = (op: string, path: string | undefined, value?: unknown) => patched([{ op, path, value }]).after;
/** The base with another part of the enterprise extension. */
const enterprise = (parts: ScimObject) => ({ [E]: { department: 'D1', manager: { value: 'm1' }, ...parts } });
const NAMED_J = { name: { givenName: 'J', familyName: 'Doe' } };
const MANAGED = enterprise({ manager: { value: 'm2' } });
/** The e-mail address at work, without the mark as primary. */
const SECOND_WORK = { value: 'w@x.org', type: 'work' };
const NEW = { value: 'n@x.org' };
const codeOf = (...operations: unknown[]) => problemOf(() => patched(operations)).code;

/** `attributes` adds, replaces and removes each attribute by its own path, and refuses those that are read-only. */
describe('add', () => {
  test.each<[string, string | undefined, unknown, ScimObject]>([
    [
      'sets a part',
      'name.middleName',
      'X',
      { name: { givenName: 'Jane', familyName: 'Doe', middleName: 'X' } },
    ],
    ['merges a complex one', 'name', { givenName: 'J' }, NAMED_J],
    [
      'merges, and unassigns by null',
      'name',
      { givenName: 'J', familyName: null },
      { name: { givenName: 'J' } },
    ],
    ['appends to a list', 'emails', [NEW], { emails: [WORK, HOME, NEW] }],
    ['appends one element', 'emails', NEW, { emails: [WORK, HOME, NEW] }],
    ['appends nothing that is there', 'emails', [{ value: 'H@x.org' }], {}],
    ['appends twice once', 'roles', [{ value: 'A' }, { value: 'a' }], { roles: [{ value: 'A' }] }],
    [
      'the last primary wins',
      'emails',
      [{ ...NEW, primary: true }],
      { emails: [SECOND_WORK, HOME, { ...NEW, primary: true }] },
    ],
    ['an empty list adds nothing', 'emails', [], {}],
    ['a text where a list belongs', 'roles', 'Author', { roles: [{ value: 'Author' }] }],
    ['a whole extension merges', E, { division: 'V' }, enterprise({ division: 'V' })],
  ])('%s', (_, path, value, expected) => {
    expect(one('add', path, value)).toEqual({ ...BASE, ...expected });
  });
});

describe('replace', () => {
  test.each<[string, string | undefined, unknown, ScimObject]>([
    ['absent: adds', 'nickName', 'J', { nickName: 'J' }],
    ['complex: merges', 'name', { givenName: 'J' }, NAMED_J],
    ['chosen part', 'emails[type eq "work"].value', 'n@x.org', { emails: [{ ...WORK, ...NEW }, HOME] }],
    [
      'chosen element: merges',
      'emails[type eq "home"]',
      { display: 'H' },
      { emails: [WORK, { ...HOME, display: 'H' }] },
    ],
    [
      'part of every element',
      'emails.display',
      'all',
      { emails: [WORK, HOME].map((email) => ({ ...email, display: 'all' })) },
    ],
    [
      'chosen primary takes it from the other',
      'emails[type eq "home"].primary',
      'True',
      { emails: [SECOND_WORK, { ...HOME, primary: true }] },
    ],
    [
      'makes what eqs describe',
      'emails[type eq "other" and display eq "O"].value',
      'o@x.org',
      { emails: [WORK, HOME, { type: 'other', display: 'O', value: 'o@x.org' }] },
    ],
    ['manager as text', `${E}:manager`, 'm2', MANAGED],
    ['manager as object', `${E}:manager`, { value: 'm2', displayName: 'B' }, MANAGED],
    ['manager as list of one', `${E}:manager`, [{ value: 'm2' }], MANAGED],
    ['manager.value', `${E}:manager.value`, 'm2', MANAGED],
    ['any case', 'URN:ietf:params:scim:schemas:core:2.0:user:NAME.GIVENNAME', 'J', NAMED_J],
    [
      'no path',
      undefined,
      {
        'name.givenName': 'J',
        active: 'False',
        [`${E}:department`]: 'D2',
        'emails[type eq "work"].value': 'n@x.org',
        id: 'x',
        colour: 'red',
        meta: {},
        __proto__x: 1,
      },
      {
        ...NAMED_J,
        active: false,
        emails: [{ ...WORK, ...NEW }, HOME],
        ...enterprise({ department: 'D2' }),
      },
    ],
    [
      'no path, schemas as keys',
      undefined,
      { [USER_SCHEMA]: { title: 'T' }, [E]: { department: 'D2', x: 1 } },
      { title: 'T', ...enterprise({ department: 'D2' }) },
    ],
  ])('%s', (_, path, value, expected) => {
    expect(one('replace', path, value)).toEqual({ ...BASE, ...expected });
  });
});

describe('remove', () => {
  const without = (name: string): ScimObject =>
    Object.fromEntries(Object.entries(BASE).filter(([key]) => key !== name));
  test.each<[string, string, unknown, ScimObject]>([
    ['absent is no error', 'nickName', undefined, BASE],
    ['chosen element', 'emails[type eq "home"]', undefined, { ...BASE, emails: [WORK] }],
    ['nothing chosen is no error', 'emails[type eq "other"]', undefined, BASE],
    [
      'chosen value drops the element',
      'emails[type eq "home"].value',
      undefined,
      { ...BASE, emails: [WORK] },
    ],
    ['chosen part', 'emails[type eq "work"].primary', undefined, { ...BASE, emails: [SECOND_WORK, HOME] }],
    ['by value, a list', 'emails', [{ value: 'H@x.org' }], { ...BASE, emails: [WORK] }],
    ['by value, an object', 'emails', { type: 'home' }, { ...BASE, emails: [WORK] }],
    ['by a value of unknown parts: takes nothing', 'emails', [{ colour: 'red' }], BASE],
    ['by value, none equal', 'emails', [{ value: 'h@x.org', type: 'work' }], BASE],
    ['by value, an empty list takes nothing', 'emails', [], BASE],
    ['part', 'name.givenName', undefined, { ...BASE, name: { familyName: 'Doe' } }],
    ['manager', `${E}:manager`, undefined, { ...BASE, [E]: { department: 'D1' } }],
    ['extension', E, undefined, without(E)],
    ['single with value', 'title', 'Guide', without('title')],
  ])('%s', (_, path, value, expected) => {
    expect(one('remove', path, value)).toEqual(expected);
  });
});

test.each(['add', 'replace', 'remove', 'Add', 'REPLACE'])(
  'null and empty text unassign, whatever the op (%s)',
  (op) => {
    for (const value of [null, '']) {
      expect(one(op, 'title', value)).not.toHaveProperty('title');
      expect(one(op, 'name.givenName', value)['name']).toEqual({ familyName: 'Doe' });
      expect(one(op, 'emails[type eq "home"].value', value)['emails']).toEqual([WORK]);
      expect(one(op, `${E}:manager`, value)[E]).toEqual({ department: 'D1' });
    }
  },
);

describe('refused', () => {
  const op = (name: string, path?: string, value?: unknown) => ({ op: name, path, value });
  const MANY = Array.from({ length: 49 }, (_, i) => ({ value: `${i}@x.org` }));
  test.each<[string, unknown]>([
    ['no_target', op('remove')],
    ['no_target', op('replace', 'emails[type eq "other"]', { value: 'x' })],
    ['no_target', op('add', 'emails[type sw "o"].value', 'x')],
    ['no_target', op('add', 'emails[type eq "o" or type eq "p"].value', 'x')],
    ['mutability', op('replace', 'id', 'x')],
    ['mutability', op('remove', 'meta.created')],
    ['mutability', op('add', `${E}:manager.$ref`, 'x')],
    ['invalid_path', op('add', 'colour', 'red')],
    ['invalid_path', op('add', 'name.colour', 'red')],
    ['invalid_filter', op('add', 'emails[type eq "work"', 'x')],
    ['invalid_path', op('add', 'title x', 'x')],
    ['invalid_path', op('add', '__proto__', { polluted: true })],
    ['invalid_path', op('add', 'constructor.prototype.polluted', true)],
    ['invalid_path', op('add', 'name.__proto__', { polluted: true })],
    ['invalid_path', { op: 'add', path: 7, value: 1 }],
    ['invalid_filter', op('add', 'emails[type xx "work"].value', 'x')],
    ['invalid_value', op('add', 'title')],
    ['invalid_value', op('add', 'title', 7)],
    ['invalid_value', op('add', 'title', ['a', 'b'])],
    ['invalid_value', op('add', 'title', 'x'.repeat(1001))],
    ['invalid_value', op('add', 'title', '\ud800')],
    ['invalid_value', op('replace', 'active', 'yes')],
    ['invalid_value', op('replace', 'name', 'Jane')],
    ['invalid_value', op('add', 'emails', MANY)],
    ['invalid_value', op('replace', undefined, 'x')],
    ['invalid_syntax', op('move', 'title', 'x')],
    ['invalid_syntax', 'x'],
  ])('%s %#', (code, operation) => {
    expect(codeOf(operation)).toBe(code);
  });

  test('a bad operation refuses all', () => {
    expect(codeOf(op('replace', 'title', 'x'), op('replace', 'id', 'x'))).toBe('mutability');
  });
  test.each([[undefined], [[]], [{}], [Array.from({ length: 1001 }, () => op('remove', 'title'))]])(
    'Operations %#',
    (list) => {
      expect(problemOf(() => patched(list)).code).toBe('invalid_syntax');
    },
  );
});

describe('what providers send against the RFC', () => {
  test.each([
    ['a text for a boolean', { op: 'replace', path: 'active', value: 'False' }, ['boolean_text']],
    ['an operation in capitals', { op: 'Add', path: 'title', value: 'x' }, ['spelling']],
    [
      'an element that is not there',
      { op: 'add', path: 'addresses[type eq "work"].country', value: 'FR' },
      ['filter_creates_element'],
    ],
    ['a text for an object', { op: 'add', path: `${E}:manager`, value: 'm3' }, ['text_as_object']],
  ])('%s is counted as a deviation', (_, operation, deviations) => {
    expect(patched([operation]).seen).toEqual(deviations);
  });

  test('unknown attributes are ignored in the profile of Entra', () => {
    const operations = [
      { op: 'add', path: 'roles[primary eq "True"].value', value: 'Author' },
      { op: 'add', path: 'urn:ietf:params:scim:schemas:extension:custom:2.0:User:site', value: '1' },
    ];
    expect(patched(operations, { entra: true })).toMatchObject({
      after: BASE,
      seen: expect.arrayContaining(['unknown_attribute']),
    });
  });

  test('an element that is created in two steps is kept', () => {
    const { after } = patched([
      { op: 'add', path: 'emails[type eq "other"].primary', value: true },
      { op: 'add', path: 'emails[type eq "other"].value', value: 'o@x.org' },
    ]);
    const made = { type: 'other', primary: true, value: 'o@x.org' };
    expect(after['emails']).toEqual([SECOND_WORK, HOME, made]);
  });
});

test('nothing reaches Object.prototype', () => {
  const value: unknown = JSON.parse(
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"name":{"__proto__":{"polluted":1}}}',
  );
  expect(patched([{ op: 'add', value }]).after).toEqual(BASE);
  expect((new service.Object() as Record<string, unknown>)['polluted']).toBeUndefined();
});
