import { describe, expect, test } from '@jest/globals';
import type { ScimObject } from '../../../src/scim/protocol/attribute.js';
import type { Deviation } from '../../../src/scim/protocol/input.js';
import { applySteps, readPatch } from '../../../src/scim/protocol/patch.js';
import { ENTERPRISE_SCHEMA as E, PATCH_MESSAGE, USER_SCHEMA } from '../../../src/scim/protocol/urns.js';
import { USER, rejectionOf } from './resources.js';
import { service } from '../../support/jest/native.js';

const WORK = { value: 'w@x.org', type: 'work', primary: true };
const HOME = { value: 'h@x.org', type: 'home' };
/** The resource before each patch. */
const BASE: ScimObject = {
  userName: 'jane',
  title: 'Guide',
  active: true,
  name: { givenName: 'Jane', familyName: 'Doe' },
  emails: [WORK, HOME],
  [E]: { department: 'D1', manager: { value: 'm1' } },
};

/** Applies a patch to BASE, which must not change. Returns the new resource and the counted deviations. */
async function patch(operations: unknown, { isEntra = false } = {}) {
  const seen = new Set<Deviation>();
  const before = JSON.stringify(BASE);
  const body = { schemas: [PATCH_MESSAGE], Operations: operations };
  const countDeviation = (kind: Deviation) => seen.add(kind);
  const steps = await readPatch(body, { resource: USER, ignoreUnknown: isEntra, countDeviation });
  const after = applySteps(BASE, steps, { countDeviation });
  expect(JSON.stringify(BASE)).toBe(before);
  return { after, seen: [...seen] };
}

const apply = async (op: string, path: string | undefined, value?: unknown) =>
  (await patch([{ op, path, value }])).after;
/** Returns the enterprise extension of BASE with other sub-attributes. */
const enterprise = (parts: ScimObject) => ({ [E]: { department: 'D1', manager: { value: 'm1' }, ...parts } });
const buildName = (parts: ScimObject) => ({ name: { givenName: 'Jane', familyName: 'Doe', ...parts } });
const NAMED_J = buildName({ givenName: 'J' });
const MANAGED = enterprise({ manager: { value: 'm2' } });
/** The work address without the primary mark. */
const SECOND_WORK = { value: 'w@x.org', type: 'work' };
const ONLY_WORK = { ...BASE, emails: [WORK] };
const NEW = { value: 'n@x.org' };
const NEW_PRIMARY = { ...NEW, primary: true };
const DISPLAYED_HOME = { ...HOME, display: 'H' };
const codeOf = async (...operations: unknown[]) => (await rejectionOf(patch(operations))).code;

/** `attributes` adds, replaces and removes each attribute by its path, and refuses read-only attributes. */
describe('SCIM PATCH add', () => {
  test.each<[string, string | undefined, unknown, ScimObject]>([
    ['sets a sub-attribute', 'name.middleName', 'X', buildName({ middleName: 'X' })],
    ['merges a complex attribute', 'name', { givenName: 'J' }, NAMED_J],
    ['removes a sub-attribute with null', 'name', { familyName: null }, { name: { givenName: 'Jane' } }],
    ['appends to a list', 'emails', [NEW], { emails: [WORK, HOME, NEW] }],
    ['appends one element to a list', 'emails', NEW, { emails: [WORK, HOME, NEW] }],
    ['does not append an existing element', 'emails', [{ value: 'H@x.org' }], {}],
    ['appends equal elements once', 'roles', [{ value: 'A' }, { value: 'a' }], { roles: [{ value: 'A' }] }],
    [
      'removes the primary mark from others',
      'emails',
      [NEW_PRIMARY],
      { emails: [SECOND_WORK, HOME, NEW_PRIMARY] },
    ],
    ['adds nothing for an empty list', 'emails', [], {}],
    ['accepts a text for a list', 'roles', 'Author', { roles: [{ value: 'Author' }] }],
    ['merges a whole extension', E, { division: 'V' }, enterprise({ division: 'V' })],
  ])('%s', async (_, path, value, expected) => {
    expect(await apply('add', path, value)).toEqual({ ...BASE, ...expected });
  });
});

describe('SCIM PATCH replace', () => {
  const DISPLAYED = [{ ...WORK, display: 'H' }, DISPLAYED_HOME];
  const OTHER = { type: 'other', display: 'O', value: 'o@x.org' };
  const OTHER_VALUE = 'emails[type eq "other" and display eq "O"].value';
  const D2 = enterprise({ department: 'D2' });
  test.each<[string, string | undefined, unknown, ScimObject]>([
    ['adds a missing attribute', 'nickName', 'J', { nickName: 'J' }],
    ['merges a complex attribute', 'name', { givenName: 'J' }, NAMED_J],
    ['applies a filter', 'emails[type eq "work"].value', 'n@x.org', { emails: [{ ...WORK, ...NEW }, HOME] }],
    [
      'merges the selected element',
      'emails[type eq "home"]',
      { display: 'H' },
      { emails: [WORK, DISPLAYED_HOME] },
    ],
    ['sets a sub-attribute of every element', 'emails.display', 'H', { emails: DISPLAYED }],
    [
      'moves the primary mark to the selected element',
      'emails[type eq "home"].primary',
      'True',
      { emails: [SECOND_WORK, { ...HOME, primary: true }] },
    ],
    ['creates the described element', OTHER_VALUE, 'o@x.org', { emails: [WORK, HOME, OTHER] }],
    ['accepts a manager as text', `${E}:manager`, 'm2', MANAGED],
    ['accepts a manager as an object', `${E}:manager`, { value: 'm2', displayName: 'B' }, MANAGED],
    ['accepts a manager as a list', `${E}:manager`, [{ value: 'm2' }], MANAGED],
    ['keeps a manager without a new value', `${E}:manager`, { displayName: 'B' }, {}],
    ['keeps an element without new values', 'emails[type eq "work"]', {}, {}],
    ['sets manager.value', `${E}:manager.value`, 'm2', MANAGED],
    ['ignores the case of a path', 'URN:ietf:params:scim:schemas:core:2.0:user:NAME.GIVENNAME', 'J', NAMED_J],
    [
      'sets several attributes without a path',
      undefined,
      {
        ...{ 'name.givenName': 'J', active: 'False', [`${E}:department`]: 'D2' },
        ...{ 'emails[type eq "work"].value': 'n@x.org', id: 'x', colour: 'red', meta: {}, __proto__x: 1 },
      },
      { ...NAMED_J, active: false, emails: [{ ...WORK, ...NEW }, HOME], ...D2 },
    ],
    [
      'accepts schemas as keys without a path',
      undefined,
      { [USER_SCHEMA]: { title: 'T' }, [E]: { department: 'D2', x: 1 } },
      { title: 'T', ...D2 },
    ],
  ])('%s', async (_, path, value, expected) => {
    expect(await apply('replace', path, value)).toEqual({ ...BASE, ...expected });
  });
});

describe('SCIM PATCH remove', () => {
  const without = (name: string): ScimObject =>
    Object.fromEntries(Object.entries(BASE).filter(([key]) => key !== name));
  test.each<[string, string, unknown, ScimObject]>([
    ['ignores a missing attribute', 'nickName', undefined, BASE],
    ['removes the selected element', 'emails[type eq "home"]', undefined, ONLY_WORK],
    ['ignores a filter without a match', 'emails[type eq "other"]', undefined, BASE],
    ['removes an element if its value is removed', 'emails[type eq "home"].value', undefined, ONLY_WORK],
    ['unsets primary', 'emails[type eq "work"].primary', undefined, { ...BASE, emails: [SECOND_WORK, HOME] }],
    ['removes elements by a list of values', 'emails', [{ value: 'H@x.org' }], ONLY_WORK],
    ['removes an element by an object', 'emails', { type: 'home' }, ONLY_WORK],
    ['removes nothing for an unknown sub-attribute', 'emails', [{ colour: 'red' }], BASE],
    ['removes nothing for a different value', 'emails', [{ value: 'h@x.org', type: 'work' }], BASE],
    ['removes nothing for an empty list', 'emails', [], BASE],
    ['removes a sub-attribute', 'name.givenName', undefined, { ...BASE, name: { familyName: 'Doe' } }],
    ['removes the manager', `${E}:manager`, undefined, { ...BASE, [E]: { department: 'D1' } }],
    ['removes an extension', E, undefined, without(E)],
    ['removes a single-valued attribute, whatever the value', 'title', 'Guide', without('title')],
  ])('%s', async (_, path, value, expected) => {
    expect(await apply('remove', path, value)).toEqual(expected);
  });
});

test.each(['add', 'replace', 'remove', 'Add', 'REPLACE'])(
  'SCIM PATCH %s with null or empty text removes a value',
  async (op) => {
    for (const value of [null, '']) {
      expect(await apply(op, 'title', value)).not.toHaveProperty('title');
      expect((await apply(op, 'name.givenName', value))['name']).toEqual({ familyName: 'Doe' });
      expect((await apply(op, 'emails[type eq "home"].value', value))['emails']).toEqual([WORK]);
      expect((await apply(op, `${E}:manager`, value))[E]).toEqual({ department: 'D1' });
    }
  },
);

describe('a SCIM PATCH', () => {
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
    ['invalid_value', op('replace', 'emails', [{ type: 'work' }])],
    ['invalid_value', op('add', 'emails[type eq "other"].display', 'x')],
    ['invalid_value', op('add', 'phoneNumbers.type', 'work')],
    ['invalid_value', op('add', 'roles', {})],
    ['invalid_syntax', op('move', 'title', 'x')],
    ['invalid_syntax', 'x'],
  ])('is refused with %s for the operation %j', async (code, operation) => {
    expect(await codeOf(operation)).toBe(code);
  });

  test('is refused as a whole if one operation is invalid', async () => {
    expect(await codeOf(op('replace', 'title', 'x'), op('replace', 'id', 'x'))).toBe('mutability');
  });
  test.each([
    ['no list of operations', undefined],
    ['an empty list of operations', []],
    ['an object in place of the operations', {}],
    ['1,001 operations', Array.from({ length: 1001 }, () => op('remove', 'title'))],
  ])('with %s is refused as invalid_syntax', async (_, list) => {
    expect((await rejectionOf(patch(list))).code).toBe('invalid_syntax');
  });
});

describe('a deviating SCIM PATCH', () => {
  test.each([
    ['a text for a boolean', { op: 'replace', path: 'active', value: 'False' }, ['boolean_text']],
    ['an operation in another case', { op: 'Add', path: 'title', value: 'x' }, ['spelling']],
    ['a new element', { op: 'add', path: 'ims[type eq "x"].value', value: 'y' }, ['filter_creates_element']],
    ['a text for an object', { op: 'add', path: `${E}:manager`, value: 'm3' }, ['text_as_object']],
  ])('with %s is accepted and counted', async (_, operation, deviations) => {
    expect((await patch([operation])).seen).toEqual(deviations);
  });

  test('with unknown attributes is accepted by the Entra profile', async () => {
    const operations = [
      { op: 'add', path: 'roles[primary eq "True"].value', value: 'Author' },
      { op: 'add', path: 'urn:ietf:params:scim:schemas:extension:custom:2.0:User:site', value: '1' },
    ];
    const { after, seen } = await patch(operations, { isEntra: true });
    expect(after).toEqual(BASE);
    expect(seen).toContain('unknown_attribute');
  });

  test('is accepted if two operations together create one element', async () => {
    const { after } = await patch([
      { op: 'add', path: 'emails[type eq "other"].primary', value: true },
      { op: 'add', path: 'emails[type eq "other"].value', value: 'o@x.org' },
    ]);
    expect(after['emails']).toEqual([SECOND_WORK, HOME, { type: 'other', primary: true, value: 'o@x.org' }]);
  });
});

test('a SCIM PATCH cannot change Object.prototype', async () => {
  const value: unknown = JSON.parse(
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"name":{"__proto__":{"polluted":1}}}',
  );
  expect((await patch([{ op: 'add', value }])).after).toEqual(BASE);
  expect((new service.Object() as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('a SCIM PATCH that makes an email primary clears primary on later emails', async () => {
  const { after } = await patch([
    { op: 'replace', path: 'emails', value: [HOME, WORK] },
    { op: 'replace', path: 'emails[type eq "home"].primary', value: true },
  ]);
  expect(after).toEqual({ ...BASE, emails: [{ ...HOME, primary: true }, SECOND_WORK] });
});
