import { describe, expect, test } from '@jest/globals';
import { DEFAULT_ROLES, RoleCatalogue } from '../../src/access/roles.js';

const PUBLISHED = [
  'Author',
  'Badge manager',
  'Blogger',
  'Brand manager',
  'Content layout manager',
  'Content reviewer',
  'Editor',
  'External user',
  'Groups manager',
  'Ideas administrator',
  'Location admin',
  'Moderator',
  'Organisational user',
  'Previewer',
  'Publisher',
  'Queries administrator',
  'Section manager',
  'Webmaster',
];

test('the role catalogue contains the published roles', () => {
  expect(new RoleCatalogue([]).names).toEqual(PUBLISHED);
  expect(DEFAULT_ROLES).toEqual(['Organisational user']);
});

describe('the role catalogue', () => {
  const roles = new RoleCatalogue(['Élève', 'Press office']);

  test.each([
    ['webmaster', 'Webmaster'],
    ['EXTERNAL USER', 'External user'],
    [' Editor ', 'Editor'],
    ['press OFFICE', 'Press office'],
    ['élève', 'Élève'],
    ['ÉLÈVE'.normalize('NFD'), 'Élève'],
  ])('maps the name %j to the role %s', (name, role) => {
    expect(roles.find(name)).toBe(role);
  });

  test.each(['', ' ', 'Webmasters', 'Web master', 'Eleve', 'constructor', '__proto__'])(
    'finds no role for the name %j',
    (name) => {
      expect(roles.find(name)).toBeUndefined();
    },
  );
});

test('the role catalogue sorts roles into a fixed order', () => {
  const roles = new RoleCatalogue(['Press office']);
  const sorted = ['Author', 'Webmaster', 'Press office'];
  expect(roles.sort(['Press office', 'Webmaster', 'Author'])).toEqual(sorted);
  expect(roles.sort(['Webmaster', 'Author', 'Press office'])).toEqual(sorted);
});

test('an extra role with the name of a standard role is ignored', () => {
  const roles = new RoleCatalogue(['webmaster', 'EDITOR', 'Press office']);
  expect(roles.names).toEqual([...PUBLISHED, 'Press office']);
  expect(roles.find('webmaster')).toBe('Webmaster');
});
