import { beforeAll, describe, expect, test } from '@jest/globals';
import { CATALOGUE, isErrorCode } from '../../src/platform/common/errors.js';
import { setUpApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { aGroup } from '../support/app/groups.js';
import { ROLLCALL, aScimUser, errorOf, provision, scimOf } from '../support/app/scim.js';
import { SCIM_ONLY } from '../support/app/scim-only.js';
import { seedUsers, seededUuids } from '../support/app/seed.js';

type ErrorCase = [what: string, status: number, send: () => Promise<Answer>, scimType?: string | undefined];

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
    scim.send(method, path, body, headers);
  const json = JSON.stringify;
  const patch = (operation: object, headers: Record<string, string> = {}) =>
    call('PATCH', `/Users/${id}`, json({ Operations: [operation] }), headers);

  test.each<ErrorCase>([
    ['broken JSON', 400, () => call('POST', '/Users', '{'), 'invalidSyntax'],
    ['a list as body', 400, () => call('POST', '/Users', '[]'), 'invalidSyntax'],
    ['missing userName', 400, () => call('POST', '/Users', '{}'), 'invalidValue'],
    ['a wrong type', 400, () => call('POST', '/Users', json(aScimUser({ title: { a: 1 } }))), 'invalidValue'],
    ['an unknown filter attribute', 400, () => call('GET', '/Users?filter=nix%20eq%201'), 'invalidFilter'],
    ['removal of emails', 400, () => patch({ op: 'remove', path: 'emails' }), 'mutability'],
    ['removal without a path', 400, () => patch({ op: 'remove' }), 'noTarget'],
    ['a filter on discovery', 403, () => call('GET', '/Schemas?filter=id%20pr')],
    ['an unknown id', 404, () => call('GET', '/Users/00000000-0000-4000-8000-00000000dead')],
    ['an unknown schema', 404, () => call('GET', '/Schemas/urn:nix')],
    ['an unknown path', 404, () => call('GET', '/Nix')],
    ['a wrong method', 405, () => call('PUT', '/Users', '{}')],
    ['an outdated If-Match', 412, () => patch({ op: 'remove', path: 'title' }, { 'if-match': 'W/"99"' })],
    ['a body that is too large', 413, () => call('POST', '/Users', json({ title: 'x'.repeat(1024 * 1024) }))],
    ['an unsupported media type', 415, () => call('POST', '/Users', '{}', { 'content-type': 'text/plain' })],
    ...Object.entries(SCIM_ONLY).map(([code, [scimType, send]]): ErrorCase => {
      return [code, isErrorCode(code) ? CATALOGUE[code].status : 0, () => send(scim, group), scimType];
    }),
  ])('has the SCIM format: %s', async (_what, status, send, ...[scimType]) => {
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
