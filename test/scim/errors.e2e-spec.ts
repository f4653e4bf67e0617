import { beforeAll, describe, expect, test } from '@jest/globals';
import { CATALOGUE, isErrorCode } from '../../src/platform/common/errors.js';
import { setUpApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { aGroup } from '../support/app/groups.js';
import { ROLLCALL, aScimUser, errorOf, provision, scimOf } from '../support/app/scim.js';
import { SCIM_ONLY } from '../support/app/scim-only.js';
import { seedUsers, seededUuids } from '../support/app/seed.js';

type ErrorCase = [what: string, send: () => Promise<Answer>, status: number, scimType: string | undefined];

const app = setUpApp({ SCIM_SCAN_LIMIT: '1000' });
const scim = scimOf(app);
let group: { id: string; displayName: string };
beforeAll(async () => {
  await seedUsers(app, 0, 1001);
  const { uuid, display_name } = await aGroup(app, { members: seededUuids(0, 1001) });
  group = { id: uuid, displayName: display_name };
});

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

describe('an error response', () => {
  let id: string;
  beforeAll(async () => void ({ id } = await provision(scim, { externalId: 'HR-1' })));

  const call = (method: string, path: string, body?: string, headers: Record<string, string> = {}) =>
    scim.send(method, path.replace('{id}', id), body, headers);
  const patch = (operation: object) => JSON.stringify({ Operations: [operation] });
  const json = JSON.stringify;

  test.each<ErrorCase>([
    ['broken JSON', () => call('POST', '/Users', '{'), 400, 'invalidSyntax'],
    ['a list as body', () => call('POST', '/Users', '[]'), 400, 'invalidSyntax'],
    ['missing userName', () => call('POST', '/Users', '{}'), 400, 'invalidValue'],
    ['a wrong type', () => call('POST', '/Users', json(aScimUser({ title: { a: 1 } }))), 400, 'invalidValue'],
    [
      'an unknown attribute in a filter',
      () => call('GET', '/Users?filter=nix%20eq%201'),
      400,
      'invalidFilter',
    ],
    [
      'removal of emails',
      () => call('PATCH', '/Users/{id}', patch({ op: 'remove', path: 'emails' })),
      400,
      'mutability',
    ],
    ['removal without a path', () => call('PATCH', '/Users/{id}', patch({ op: 'remove' })), 400, 'noTarget'],
    ['a filter on discovery', () => call('GET', '/Schemas?filter=id%20pr'), 403, undefined],
    ['an unknown id', () => call('GET', '/Users/00000000-0000-4000-8000-00000000dead'), 404, undefined],
    ['an unknown schema', () => call('GET', '/Schemas/urn:nix'), 404, undefined],
    ['an unknown path', () => call('GET', '/Nix'), 404, undefined],
    ['a wrong method', () => call('PUT', '/Users', '{}'), 405, undefined],
    [
      'an outdated If-Match',
      () =>
        call('PATCH', '/Users/{id}', patch({ op: 'add', path: 'title', value: 'x' }), {
          'if-match': 'W/"99"',
        }),
      412,
      undefined,
    ],
    [
      'a body that is too large',
      () => call('POST', '/Users', json({ title: 'x'.repeat(1024 * 1024) })),
      413,
      undefined,
    ],
    [
      'an unsupported media type',
      () => call('POST', '/Users', '{}', { 'content-type': 'text/plain' }),
      415,
      undefined,
    ],
    ...Object.entries(SCIM_ONLY).map(([code, [scimType, send]]): ErrorCase => {
      return [code, () => send(scim, group), isErrorCode(code) ? CATALOGUE[code].status : 0, scimType];
    }),
  ])('has the SCIM format: %s', async (_what, send, status, scimType) => {
    const answer = await send();
    expect(errorOf(answer).slice(0, 2)).toEqual([status, scimType]);
    expect(answer.body).toEqual({
      schemas: [ERROR],
      status: String(status),
      ...(scimType && { scimType }),
      detail: expect.stringMatching(/^\S.+\.$/s),
    });
    expect(answer.headers['content-type']).toBe('application/scim+json; charset=utf-8');
    expect(answer.headers['allow']).toBe(status === 405 ? 'GET, HEAD, POST' : undefined);
  });

  test('outside of /scim/v2 has the REST format', async () => {
    for (const path of ['/api/0.3/nix', '/scim', '/scim/v3/Users', '/scim/v2x'])
      expect((await app.key.fetch('GET', path)).body).toMatchObject({ code: 'not_found' });
  });

  test('of SCIM uses SCIM attribute names', async () => {
    const broken = {
      userName: '',
      emails: [{ value: 'no address', primary: true }],
      name: { givenName: 'a\u0000b', familyName: 'x'.repeat(256) },
      roles: [{ value: 'Nobody' }],
      photos: [{ value: 'javascript:alert(1)', type: 'photo' }],
      [ROLLCALL]: { authname: [{ method: 'S P', value: 'x' }], socialMedia: { twitter: 'nix' } },
    };
    const [status, scimType, detail] = errorOf(await scim.post('/Users', broken));
    expect([status, scimType]).toEqual([400, 'invalidValue']);
    const rest = {
      username: '',
      email: 'no address',
      firstname: 'a\u0000b',
      surname: 'x'.repeat(256),
      roles: ['Nobody'],
      user_avatar: 'javascript:alert(1)',
      authname: { 'S P': ['x'] },
      social_media: { twitter: 'nix' },
    };
    const { errors } = (await app.key.post('/users', rest)).body;
    const names: Record<string, string> = {
      username: 'userName',
      email: 'emails',
      firstname: 'name.givenName',
      surname: 'name.familyName',
      user_avatar: 'photos',
      authname: `${ROLLCALL}:authname`,
      social_media: `${ROLLCALL}:socialMedia`,
    };
    expect(errors).toHaveLength(8);
    for (const { field, message } of errors as { field: string; message: string }[]) {
      if (field === 'username') expect(detail).toContain('userName is required');
      else expect(detail).toContain(`${names[field] ?? field} ${message}`);
    }
  });
});
