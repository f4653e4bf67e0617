import type { User } from '../../../src/users/model/user.js';
import { PASSWORD_HASH } from '../support/password.js';
import { externalIdOf, formsOf, personOf, usernameOf, uuidOf } from '../support/person.js';
import { HEADERS } from '../support/requests.js';
import type { ScaleCase } from './scale.js';

const USERS = '/scim/v2/Users';
const PAGE = 25;
const STEPS = 15;
const FILTERS = 1000;

const displayNameOf = (n: number): string => `Sam ${formsOf(n)[1]}`;
const employeeNumberOf = (n: number): string => `E${formsOf(n)[0]}`;

/** A user with the attributes by which providers look, beside the columns. */
export function scimPersonOf(n: number): User {
  const attributes = {
    displayName: displayNameOf(n),
    employeeNumber: employeeNumberOf(n),
    department: `D${n % 100}`,
  };
  return { ...personOf(n, PASSWORD_HASH), attributes };
}

const page = (query: string): ScaleCase => ({
  title: `first page, ${query === '' ? 'as created' : query}`,
  paths: async () => [`${USERS}?count=${PAGE}${query && `&${query}`}`],
});

const walk = (query: string): ScaleCase => ({
  title: `walk by cursor, ${query === '' ? 'as created' : query}`,
  paths: async (url) => {
    const paths = [`${USERS}?count=${PAGE}&cursor=${query && `&${query}`}`];
    while (paths.length < STEPS) {
      const cursor = await nextOf(url, paths.at(-1) ?? '');
      paths.push(`${USERS}?count=${PAGE}&cursor=${encodeURIComponent(cursor)}${query && `&${query}`}`);
    }
    return paths;
  },
});

async function nextOf(url: string, path: string): Promise<string> {
  const answer = await fetch(`${url}${path}`, { headers: HEADERS });
  const { nextCursor } = (await answer.json()) as { nextCursor?: string };
  if (nextCursor === undefined) throw new Error(`${path}: ${answer.status}, and no next page`);
  return nextCursor;
}

const filter = (title: string, of: (n: number) => string): ScaleCase => ({
  title: `filter, ${title}`,
  paths: async (_url, users) =>
    Array.from({ length: FILTERS }, () => {
      const text = of(Math.floor(Math.random() * users));
      return `${USERS}?filter=${encodeURIComponent(text)}`;
    }),
});

/** Pages and keyed filters over SCIM: their cost must not grow with the users (scim.md, section 12). */
export const SCIM_LISTS: readonly ScaleCase[] = [
  page(''),
  page('sortBy=userName'),
  page('sortBy=displayName'),
  page(`filter=${encodeURIComponent('active eq true')}`),
  walk(''),
  walk('sortBy=name.familyName'),
  walk('sortBy=displayName'),
  walk(`filter=${encodeURIComponent('active eq true')}`),
  filter('id eq', (n) => `id eq "${uuidOf(n)}"`),
  filter('userName eq', (n) => `userName eq "${usernameOf(n)}"`),
  filter('userName sw', (n) => `userName sw "${usernameOf(n)}"`),
  filter('externalId eq', (n) => `externalId eq "${externalIdOf(n)}"`),
  filter(
    'emails[type eq "work"].value eq',
    (n) => `emails[type eq "work"].value eq "${usernameOf(n)}@example.org"`,
  ),
  filter('displayName eq', (n) => `displayName eq "${displayNameOf(n)}"`),
  filter(
    'employeeNumber eq',
    (n) =>
      `urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber eq "${employeeNumberOf(n)}"`,
  ),
  filter('name.familyName eq', (n) => `name.familyName eq "S${formsOf(n)[1]}"`),
  filter(
    'userName eq or externalId eq',
    (n) => `userName eq "${usernameOf(n)}" or externalId eq "${externalIdOf(n)}"`,
  ),
];
