import { describe, expect, test } from '@jest/globals';
import { readResource } from '../../../src/scim/protocol/input.js';
import { buildListResponse, readListQuery, toSortKey } from '../../../src/scim/protocol/list.js';
import { Projection } from '../../../src/scim/protocol/projection.js';
import { sortPage } from '../../../src/platform/database/keyset-pages.js';
import { ENTERPRISE_SCHEMA as E, USER_SCHEMA } from '../../../src/scim/protocol/urns.js';
import { GROUP, JANE, USER, problemOf } from './resources.js';

describe('a body', () => {
  test('comes out in the spelling and the types of the schema', () => {
    const read = readResource(
      {
        SCHEMAS: [USER_SCHEMA, 'urn:unknown'],
        USERNAME: 'jane',
        id: 'x',
        meta: { created: 'x' },
        Active: 'TRUE',
        colour: 'red',
        title: '',
        nickName: null,
        emails: [
          { value: 'a@x.org', primary: 'true', rank: 1 },
          { value: 'b@x.org', Primary: true },
          { type: 'work' },
          null,
        ],
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
      roles: [{ value: 'Author' }],
      [E]: { employeeNumber: '7', manager: { value: 'm' } },
    });
    expect([...read.unassigned]).toEqual(['title', 'nickName']);
    expect([...read.extensions]).toEqual([E]);
    expect(read.id).toBe('x');
  });

  test.each<[unknown, string, string]>([
    [{ title: 7 }, 'title', 'invalid_type'],
    [{ title: 'x'.repeat(1001) }, 'title', 'too_long'],
    [{ title: '\udc00' }, 'title', 'invalid_format'],
    [{ active: 'maybe' }, 'active', 'invalid_type'],
    [{ name: 'Jane' }, 'name', 'invalid_type'],
    [{ name: { givenName: {} } }, 'name.givenName', 'invalid_type'],
    [{ emails: [{ value: 'a' }, { value: 7 }] }, 'emails[1].value', 'invalid_type'],
    [{ emails: Array.from({ length: 51 }, () => ({ value: 'x' })) }, 'emails', 'too_long'],
    [{ x509Certificates: [{ value: 'x'.repeat(8193) }] }, 'x509Certificates[0].value', 'too_long'],
    [{ [E]: 'x' }, E, 'invalid_type'],
    [{ [E]: { department: true } }, `${E}:department`, 'invalid_type'],
  ])('%# is refused by name', (body, field, code) => {
    expect(readResource(body, USER).errors).toEqual([expect.objectContaining({ field, code })]);
  });

  test('long lists of members are read', () => {
    const members = Array.from({ length: 5000 }, (_, i) => ({ value: String(i) }));
    expect(readResource({ members }, GROUP).resource['members']).toHaveLength(5000);
  });
  test.each([[null], [[]], ['x'], [7]])('%j is none', (body) => {
    expect(problemOf(() => readResource(body, USER)).code).toBe('invalid_syntax');
  });
});

describe('a projection', () => {
  const keys = (parameters: object) => Object.keys(new Projection(USER, parameters).apply(JANE)).sort();
  test.each([
    [{ attributes: 'userName' }, ['id', 'schemas', 'userName']],
    [{ attributes: ['USERNAME, title', 'nothing'] }, ['id', 'schemas', 'title', 'userName']],
    [{ attributes: 'emails[type eq "work, home"]' }, ['emails', 'id', 'schemas']],
    [{ attributes: E }, ['id', 'schemas', E].sort()],
    [{ attributes: 'nothing' }, ['id', 'schemas']],
    [{ attributes: `${USER_SCHEMA}:name.givenName` }, ['id', 'name', 'schemas']],
    [{ attributes: 'password' }, ['id', 'schemas']],
  ])('%j', (parameters, expected) => {
    expect(keys(parameters)).toEqual(expected);
  });
  test('takes parts', () => {
    const only = new Projection(USER, { attributes: 'name.givenName,emails.value' }).apply(JANE);
    expect(only['name']).toEqual({ givenName: 'Jane' });
    expect(only['emails']).toEqual([{ value: 'jane@example.com' }, { value: 'jane@home.example' }]);
    const not = new Projection(USER, { excludedAttributes: `name.givenName,id,schemas,${E}` }).apply(JANE);
    expect(not['name']).not.toHaveProperty('givenName');
    expect(not).toHaveProperty('id');
    expect(not).not.toHaveProperty([E]);
    expect(not['schemas']).not.toContain(E);
  });
  test('says what need not be read', () => {
    const members = GROUP.findAttribute('members')!;
    const groups = USER.findAttribute('groups')!;
    expect(new Projection(GROUP, { excludedAttributes: 'members' }).shows(members)).toBe(false);
    expect(new Projection(GROUP, { attributes: 'displayName' }).shows(members)).toBe(false);
    expect(new Projection(GROUP, { attributes: 'members.value' }).shows(members)).toBe(true);
    expect(new Projection(GROUP).shows(members)).toBe(true);
    expect(new Projection(USER).shows(groups)).toBe(false);
    expect(new Projection(USER, { attributes: 'groups' }).shows(groups)).toBe(true);
  });
  test('both parameters are refused', () => {
    expect(problemOf(() => new Projection(USER, { attributes: 'id', excludedAttributes: 'id' })).code).toBe(
      'invalid_value',
    );
  });
});

describe('a list', () => {
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
  ])('$parameters', ({ parameters, expected }) => {
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
    [{ filter: '' }, 'invalid_filter'],
    [{ filter: ['title pr', 'title pr'] }, 'invalid_value'],
  ])('%j: %s', (parameters, code) => {
    expect(problemOf(() => readListQuery(parameters, USER)).code).toBe(code);
  });
  test('unassigned comes last, descending first; of a list counts the primary element', () => {
    const people = [
      { id: '1', emails: [{ value: 'c' }, { value: 'a', primary: true }] },
      { id: '2' },
      { id: '3', emails: [{ value: 'B' }] },
    ];
    const sorted = (sortOrder: string) => {
      const { sortBy, descending } = readListQuery({ sortBy: 'emails', sortOrder }, USER);
      const position = (person: (typeof people)[number]) => ({
        key: toSortKey(sortBy!, person) ?? null,
        uuid: person.id,
      });
      const place = { after: undefined, offset: 0, limit: 3 };
      return sortPage(people, position, descending ? 'desc' : 'asc', place).rows.map(({ id }) => id);
    };
    expect(sorted('ascending')).toEqual(['1', '3', '2']);
    expect(sorted('descending')).toEqual(['2', '3', '1']);
  });
  test('is answered in the form of the RFC', () => {
    expect(buildListResponse({ startIndex: 1 }, { resources: [], total: 0, next: undefined })).toEqual({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
      totalResults: 0,
      itemsPerPage: 0,
      startIndex: 1,
      Resources: [],
    });
  });
});
