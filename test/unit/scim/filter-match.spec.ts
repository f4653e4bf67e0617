import { describe, expect, test } from '@jest/globals';
import { buildMatcher } from '../../../src/scim/protocol/filter.js';
import { parseFilter } from '../../../src/scim/protocol/filter-parser.js';
import { ENTERPRISE_SCHEMA } from '../../../src/scim/protocol/urns.js';
import { GROUP, ID, JANE, USER } from './resources.js';

const matches = (filter: string): boolean => buildMatcher(parseFilter(filter, USER))(JANE);

describe('an example filter of RFC 7644', () => {
  test.each([
    ['userName eq "jane@example.org"', true],
    ['name.familyName co "O\'Malley"', true],
    ['userName sw "J"', true],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"', true],
    ['title pr', true],
    ['meta.lastModified gt "2011-05-13T04:42:34Z"', true],
    ['title pr and userType eq "Employee"', true],
    ['title pr or userType eq "Intern"', true],
    ['schemas eq "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"', true],
    ['userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")', true],
    ['userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")', false],
    ['userType eq "Employee" and (emails.type eq "work")', true],
    ['userType eq "Employee" and emails[type eq "work" and value co "@example.com"]', true],
    [
      'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp" and value co "@foo.com"]',
      true,
    ],
  ])('%s evaluates to %s', (filter, expected) => {
    expect(matches(filter)).toBe(expected);
  });
});

describe('a SCIM filter on text', () => {
  test.each([
    ['userName eq "  JANE@EXAMPLE.ORG "', true],
    ['displayName eq "jane STRASSE"', true],
    ['emails eq "JANE@example.COM"', true],
    ['title eq "tour guide"', true],
    ['title ew "GUIDE"', true],
    ['externalId eq "Ext-1"', true],
    ['externalId eq "ext-1"', false],
    [`id eq "${ID.toUpperCase()}"`, true],
    ['urn:ietf:params:scim:schemas:extension:rollcall:2.0:User:authname[value eq "janes"]', false],
    ['urn:ietf:params:scim:schemas:extension:rollcall:2.0:User:authname[value eq "JaneS"]', true],
    ['URN:IETF:params:scim:schemas:extension:ENTERPRISE:2.0:user:EMPLOYEENUMBER eq "701984"', true],
    [`${ENTERPRISE_SCHEMA}:manager eq "26118915-6090-4610-87E4-49D8CA9F808D"`, true],
    ['title gt "tour g"', true],
    ['title ge "Tour Guide"', true],
    ['title le "tour guide"', true],
    ['title lt "tour guide"', false],
    ['name.formatted co "\\"jj\\""', true],
  ])('%s evaluates to %s', (filter, expected) => {
    expect(matches(filter)).toBe(expected);
  });
});

describe('a SCIM filter on values other than text', () => {
  test.each([
    ['active eq true', true],
    ['active eq TRUE', true],
    ['active eq "True"', true],
    ['active ne "False"', true],
    ['active eq false', false],
    ['title eq null', false],
    ['nickName eq null', true],
    ['nickName ne null', false],
    ['nickName eq ""', true],
    ['title ne ""', true],
    ['nickName pr', false],
    ['nickName ne "x"', true],
    ['emails ne "jane@example.com"', false],
    ['emails[value ne "jane@example.com"]', true],
    ['emails[type eq "work"].value ne "jane@example.com"', false],
    ['emails[type eq "other"].value ne "jane@example.com"', true],
    ['emails[type eq "home"].value eq "jane@example.com"', false],
    ['emails[type eq "work"].value eq "jane@example.com"', true],
    ['emails[type eq "work"].display eq null', true],
    ['emails[type eq "home"].display pr', true],
    ['emails[not (type eq "work") and primary ne true].value sw "jane@h"', true],
    ['userType eq employee', true],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber eq 701984', true],
    ['meta.created eq "2011-05-13T06:42:34+02:00"', true],
    ['meta.created eq "2011-05-13T04:42:34"', true],
    ['meta.created gt 2011-05-13', true],
    ['name pr', true],
    ['addresses pr', false],
  ])('%s evaluates to %s', (filter, expected) => {
    expect(matches(filter)).toBe(expected);
  });
});

test('a SCIM filter that compares the password is refused', () => {
  expect(() => matches('password eq null or title pr')).toThrow(/cannot be used in a filter/);
});

test('a SCIM filter finds a group by member id or $ref', () => {
  const group = { id: ID, displayName: 'G', members: [{ value: ID, $ref: `https://x/scim/v2/Users/${ID}` }] };
  const matchesGroup = (filter: string) => buildMatcher(parseFilter(filter, GROUP))(group);
  expect(matchesGroup(`members eq "${ID.toUpperCase()}"`)).toBe(true);
  expect(matchesGroup(`members.$ref ew "/Users/${ID}"`)).toBe(true);
  expect(matchesGroup(`members[$ref eq "https://X/scim/v2/Users/${ID}"]`)).toBe(false);
});

test('a SCIM filter treats an attribute of another resource type as unassigned', () => {
  const check = (filter: string) =>
    buildMatcher(parseFilter(filter, GROUP, [USER]))({ id: ID, displayName: 'G' });
  expect(check('userName eq "x"')).toBe(false);
  expect(check('userName ne "x"')).toBe(true);
  expect(check('userName eq null')).toBe(true);
  expect(check('emails[type eq "work"].value eq "x" or displayName eq "g"')).toBe(true);
  expect(check('not (emails[type eq "work" and value co "]"])')).toBe(true);
  expect(() => check('colour eq "x"')).toThrow(/colour/);
});
