import { describe, expect, test } from '@jest/globals';
import { ENTERPRISE_SCHEMA as E, USER_SCHEMA } from '../../../src/scim/protocol/urns.js';
import { BASE, HOME, patched } from './patched.js';
import { service } from '../../support/jest/native.js';

describe('bodies that providers send', () => {
  test('Entra: disables by a text, in capitals', () => {
    const { after, seen } = patched([{ op: 'Replace', path: 'active', value: 'False' }]);
    expect(after['active']).toBe(false);
    expect(seen.sort()).toEqual(['boolean_text', 'spelling']);
  });
  test('Entra: adds to an element that is not there, and to the manager', () => {
    const { after, seen } = patched([
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555' },
      { op: 'Add', path: 'addresses[type eq "work"].country', value: 'FR' },
      { op: 'Add', path: `${E}:manager`, value: 'm3' },
    ]);
    expect(after).toMatchObject({
      phoneNumbers: [{ type: 'mobile', value: '+1 555' }],
      addresses: [{ type: 'work', country: 'FR' }],
      [E]: { manager: { value: 'm3' } },
    });
    expect(seen).toEqual(expect.arrayContaining(['spelling', 'filter_creates_element', 'text_as_object']));
  });
  test('Entra: what it does not know is ignored in its profile', () => {
    const { after, seen } = patched(
      [
        { op: 'Add', path: 'roles[primary eq "True"].value', value: 'Author' },
        { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:custom:2.0:User:site', value: '1' },
      ],
      { entra: true },
    );
    expect(after).toEqual(BASE);
    expect(seen).toContain('unknown_attribute');
  });
  test('Entra: members go by value', () => {
    const base = { displayName: 'G', members: [{ value: 'u1' }, { value: 'u2' }] };
    const { after } = patched([{ op: 'Remove', path: 'members', value: [{ $ref: null, value: 'u1' }] }], {
      base,
      group: true,
    });
    expect(after['members']).toEqual([{ value: 'u2' }]);
  });
  test('Okta: an object without path, with an id', () => {
    const base = { displayName: 'G' };
    const { after } = patched([{ op: 'replace', value: { id: 'x', displayName: 'H' } }], {
      base,
      group: true,
    });
    expect(after).toEqual({ displayName: 'H' });
    expect(patched([{ op: 'replace', value: { active: false } }]).after['active']).toBe(false);
  });
  test('Okta: members come and go by filter', () => {
    const base = { displayName: 'G', members: [{ value: 'u1' }] };
    const { after } = patched(
      [
        { op: 'remove', path: 'members[value eq "u1"]' },
        { op: 'add', path: 'members', value: [{ value: 'u2', display: 'jane' }] },
      ],
      { base, group: true },
    );
    expect(after['members']).toEqual([{ value: 'u2' }]);
  });
  test('midPoint: a single text where a list belongs, and names with URN', () => {
    const { after } = patched([
      { op: 'add', path: 'roles', value: 'Author' },
      { op: 'replace', path: `${USER_SCHEMA}:name.familyName`, value: 'Roe' },
    ]);
    expect(after).toMatchObject({ roles: [{ value: 'Author' }], name: { familyName: 'Roe' } });
  });
  test('an element made in two steps is kept', () => {
    const { after } = patched([
      { op: 'add', path: 'emails[type eq "other"].primary', value: true },
      { op: 'add', path: 'emails[type eq "other"].value', value: 'o@x.org' },
    ]);
    expect(after['emails']).toEqual([
      { value: 'w@x.org', type: 'work' },
      HOME,
      { type: 'other', primary: true, value: 'o@x.org' },
    ]);
  });
});

test('nothing reaches Object.prototype', () => {
  const value: unknown = JSON.parse(
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"name":{"__proto__":{"polluted":1}}}',
  );
  expect(patched([{ op: 'add', value }]).after).toEqual(BASE);
  expect((new service.Object() as Record<string, unknown>)['polluted']).toBeUndefined();
});
