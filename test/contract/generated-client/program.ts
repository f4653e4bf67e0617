import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

/**
 * What a user of the API writes against the generated types; `generated-client.e2e-spec.ts` compiles and runs it,
 * and reads the line that it prints.
 */
const { API_URL: baseUrl = '', API_KEY = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { 'X-API-Key': API_KEY } });
type User = components['schemas']['UserDto'];
type Problem = components['schemas']['ProblemDto'];

const created = await client.POST('/api/0.3/users', {
  body: { username: 'generated', email: 'generated@example.org', authname: { saml: ['generated@idp'] } },
});
if (!created.data) throw new Error(created.error.detail);
const path = { user_id: created.data.uuid };

const read = await client.GET('/api/0.3/users/{user_id}', { params: { path } });
if (!read.data) throw new Error(read.error.detail);
const etag = read.response.headers.get('etag') ?? '';

const changed = await client.PUT('/api/0.3/users/{user_id}', {
  params: { path, header: { 'If-Match': etag } },
  body: { ...read.data, phone: '+44 20 7946 0958', manager_uuid: null },
});
if (!changed.data) throw new Error(changed.error.detail);
const user: User = changed.data;

const found = await client.GET('/api/0.3/users/search', {
  params: { query: { username: 'GENERATED', status: ['Active'], sort: 'username', order: 'asc', limit: 1 } },
});
const first = found.data?.Results[0];

const refused = await client.POST('/api/0.3/users', { body: { username: 'generated', email: 'nowhere' } });
const problem: Problem | undefined = refused.error;

// The types allow none of these; nothing of it is sent.
export const mistakes = [
  // @ts-expect-error a field that must be there
  () => client.POST('/api/0.3/users', { body: { username: 'generated' } }),
  // @ts-expect-error a value of another type
  () => client.PUT('/api/0.3/users/{user_id}', { params: { path }, body: { hide_email: 'yes' } }),
  // @ts-expect-error a value outside the enum
  () => client.GET('/api/0.3/users/search', { params: { query: { sort: 'age' } } }),
  // @ts-expect-error a path that does not exist
  () => client.GET('/api/0.3/people'),
  // @ts-expect-error a field that no answer has
  () => user.password_hash,
];

console.log(
  JSON.stringify({
    authname: user.authname,
    phone: user.phone,
    found: [found.data?.Count, first?.uuid === user.uuid],
    refused: [
      refused.response.status,
      problem?.code,
      problem?.errors?.map(({ field, code }) => [field, code]),
    ],
  }),
);
