import { describe, expect, test } from '@jest/globals';
import { readResource } from '../../../src/scim/protocol/input.js';
import { buildListResponse, readListQuery, toSortKey } from '../../../src/scim/protocol/list.js';
import { Projection } from '../../../src/scim/protocol/projection.js';
import { sortPage } from '../../../src/platform/database/keyset-pages.js';
import { ENTERPRISE_SCHEMA as E, USER_SCHEMA } from '../../../src/scim/protocol/urns.js';
import { GROUP, JANE, USER, problemOf, rejectionOf } from './resources.js';

const R = USER.extensions[1]!.urn;

describe('a SCIM resource body', () => {
  test('is converted to schema names and types', async () => {
    const read = await readResource(
      {
        ...{ SCHEMAS: [USER_SCHEMA, 'urn:unknown'], USERNAME: 'jane', id: 'x', meta: { created: 'x' } },
        ...{ Active: 'TRUE', colour: 'red', title: '', nickName: null },
        emails: [
          { value: 'a@x.org', primary: 'true', rank: 1 },
          { value: 'b@x.org', Primary: true },
          { value: null, type: 'work' },
          null,
        ],
        addresses: [{ primary: true }, {}, { primary: true }],
        roles: ['Author'],
        [E.toUpperCase()]: { EmployeeNumber: '7', manager: [{ value: 'm' }], $x: 1 },
      },
      USER,
    );
    expect(read.errors).toEqual([]);
    expect(read.resource).toEqual({
      userName: 'jane',
      active: true,
      emails: [{ value: 'a@x.org' }, { value: 'b@x.org', primary: true }],
      addresses: [{ primary: true }],
      roles: [{ value: 'Author' }],
      [E]: { employeeNumber: '7', manager: { value: 'm' } },
    });
    expect([...read.unassigned]).toEqual(['title', 'nickName']);
    expect([...read.extensions]).toEqual([E]);
    expect(read.id).toBe('x');
  });

  test.each<[string, string, unknown]>([
    ['title', 'invalid_type', { title: 7 }],
    ['title', 'too_long', { title: 'x'.repeat(1001) }],
    ['title', 'invalid_format', { title: '\udc00' }],
    ['active', 'invalid_type', { active: 'maybe' }],
    ['name', 'invalid_type', { name: 'Jane' }],
    ['name.givenName', 'invalid_type', { name: { givenName: {} } }],
    ['emails[1].value', 'invalid_type', { emails: [{ value: 'a' }, { value: 7 }] }],
    ['emails', 'too_long', { emails: Array.from({ length: 51 }, () => ({ value: 'x' })) }],
    ['x509Certificates[0].value', 'too_long', { x509Certificates: [{ value: 'x'.repeat(8193) }] }],
    ['roles[0].value', 'required', { roles: { display: 'Author' } }],
    [`${E}:manager.value`, 'required', { [E]: { manager: { $ref: 'https://x.org/Users/1', x: 1 } } }],
    [`${R}:authname[0].method`, 'required', { [R]: { authname: [{ METHOD: '', value: 'jane' }] } }],
    [E, 'invalid_type', { [E]: 'x' }],
    [`${E}:department`, 'invalid_type', { [E]: { department: true } }],
  ])('with an invalid %s is refused as %s', async (field, code, body) => {
    expect((await readResource(body, USER)).errors).toEqual([expect.objectContaining({ field, code })]);
  });

  test('may contain 5,000 members', async () => {
    const members = Array.from({ length: 5000 }, (_, i) => ({ value: String(i) }));
    expect((await readResource({ members }, GROUP)).resource['members']).toHaveLength(5000);
  });
  test.each([[null], [[]], ['x'], [7]])('that consists of %j is refused', async (body) => {
    expect((await rejectionOf(readResource(body, USER))).code).toBe('invalid_syntax');
  });
});

describe('the SCIM attribute selection', () => {
  const keysOf = (parameters: object) => Object.keys(new Projection(USER, parameters).apply(JANE)).sort();
  test.each([
    [{ attributes: 'userName' }, ['id', 'schemas', 'userName']],
    [{ attributes: ['USERNAME, title', 'nothing'] }, ['id', 'schemas', 'title', 'userName']],
    [{ attributes: 'emails[type eq "work, home"]' }, ['emails', 'id', 'schemas']],
    [{ attributes: E }, ['id', 'schemas', E].sort()],
    [{ attributes: 'nothing' }, ['id', 'schemas']],
    [{ attributes: `${USER_SCHEMA}:name.givenName` }, ['id', 'name', 'schemas']],
    [{ attributes: 'password' }, ['id', 'schemas']],
  ])('with %j returns %j', (parameters, expected) => {
    expect(keysOf(parameters)).toEqual(expected);
  });
  test('includes and excludes sub-attributes', () => {
    const only = new Projection(USER, { attributes: 'name.givenName,emails.value' }).apply(JANE);
    expect(only['name']).toEqual({ givenName: 'Jane' });
    expect(only['emails']).toEqual([{ value: 'jane@example.com' }, { value: 'jane@home.example' }]);
    const not = new Projection(USER, { excludedAttributes: `name.givenName,id,schemas,${E}` }).apply(JANE);
    expect(not['name']).not.toHaveProperty('givenName');
    expect(not).toHaveProperty('id');
    expect(not).not.toHaveProperty([E]);
    expect(not['schemas']).not.toContain(E);
  });
  test('shows only requested and default attributes', () => {
    expect(new Projection(GROUP, { excludedAttributes: 'members' }).hasAttribute('members')).toBe(false);
    expect(new Projection(GROUP, { attributes: 'displayName' }).hasAttribute('members')).toBe(false);
    expect(new Projection(GROUP, { attributes: 'members.value' }).hasAttribute('members')).toBe(true);
    expect(new Projection(GROUP).hasAttribute('members')).toBe(true);
    expect(new Projection(USER).hasAttribute('groups')).toBe(false);
    expect(new Projection(USER, { attributes: 'groups' }).hasAttribute('groups')).toBe(true);
  });
  test('refuses attributes together with excludedAttributes', () => {
    const both = { attributes: 'id', excludedAttributes: 'id' };
    expect(problemOf(() => new Projection(USER, both)).code).toBe('invalid_value');
  });
});

describe('a SCIM list', () => {
  const byEmail = { descending: true, sortBy: { sub: USER.findAttribute('emails')?.findSub('value') } };
  test.each<{ parameters: Record<string, unknown>; expected: object }>([
    { parameters: {}, expected: { startIndex: 1, count: 100, descending: false } },
    { parameters: { startIndex: '0', count: '-1' }, expected: { startIndex: 1, count: 0 } },
    { parameters: { startIndex: '-9', count: '201' }, expected: { startIndex: 1, count: 200 } },
    { parameters: { startIndex: 7, count: 3 }, expected: { startIndex: 7, count: 3 } },
    { parameters: { STARTINDEX: '7', other: 'x' }, expected: { startIndex: 7 } },
    { parameters: { count: '9'.repeat(400) }, expected: { count: 200 } },
    { parameters: { cursor: '', count: '-1' }, expected: { cursor: '', count: 0 } },
    { parameters: { sortBy: 'emails', sortOrder: 'Descending' }, expected: byEmail },
  ])('with the parameters $parameters gets valid limits and defaults', ({ parameters, expected }) => {
    expect(readListQuery(parameters, USER)).toMatchObject(expected);
  });
  test.each<[Record<string, unknown>, string]>([
    [{ count: 'x' }, 'invalid_value'],
    [{ count: '' }, 'invalid_value'],
    [{ count: 1.5 }, 'invalid_value'],
    [{ count: ['1', '2'] }, 'invalid_value'],
    [{ startIndex: '1.5' }, 'invalid_value'],
    [{ cursor: '', count: 'x' }, 'invalid_count'],
    [{ cursor: '', startIndex: '1' }, 'invalid_value'],
    [{ sortBy: 'colour' }, 'invalid_value'],
    [{ sortBy: 'password' }, 'invalid_value'],
    [{ sortBy: 'name' }, 'invalid_value'],
    [{ sortOrder: 'up' }, 'invalid_value'],
    [{ attributes: ['x'.repeat(16_384), ''] }, 'invalid_value'],
    [{ cursor: 'x'.repeat(65_537) }, 'invalid_value'],
    [{ filter: '' }, 'invalid_filter'],
    [{ filter: ['title pr', 'title pr'] }, 'invalid_value'],
  ])('with %j is refused as %s', (parameters, code) => {
    expect(problemOf(() => readListQuery(parameters, USER)).code).toBe(code);
  });
  test('can be sorted by primary email', () => {
    const people = [
      { id: '1', emails: [{ value: 'c' }, { value: 'a', primary: true }] },
      { id: '2' },
      { id: '3', emails: [{ value: 'B' }] },
    ];
    const sortIds = (sortOrder: string) => {
      const { sortBy, descending } = readListQuery({ sortBy: 'emails', sortOrder }, USER);
      const positionOf = (person: (typeof people)[number]) => ({
        key: toSortKey(sortBy!, person) ?? null,
        uuid: person.id,
      });
      const page = { after: undefined, offset: 0, limit: 3 };
      return sortPage(people, positionOf, descending ? 'desc' : 'asc', page).rows.map(({ id }) => id);
    };
    expect(sortIds('ascending')).toEqual(['1', '3', '2']);
    expect(sortIds('descending')).toEqual(['2', '3', '1']);
  });
  test('has a response in the format of RFC 7644', () => {
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:ListResponse'];
    const empty = { schemas, totalResults: 0, itemsPerPage: 0, startIndex: 1, Resources: [] };
    const page = { resources: [], total: 0, next: undefined };
    expect(buildListResponse({ startIndex: 1 }, page)).toEqual(empty);
  });
});
