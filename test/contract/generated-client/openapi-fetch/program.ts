import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

/**
 * What a user of the API writes against the generated types; `generated-client.e2e-spec.ts` compiles and runs it,
 * and reads the line that it prints.
 */
const { API_URL: baseUrl = '', API_KEY = '', NAME: name = '', FILE: file = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { 'X-API-Key': API_KEY } });
type User = components['schemas']['UserDto'];
type Query = NonNullable<paths['/api/0.3/users/search']['get']['parameters']['query']>;
type Problem = components['schemas']['ProblemDto'];

const created = await client.POST('/api/0.3/users', {
  body: { username: name, email: `${name}@example.org`, authname: { saml: ['generated@idp'] } },
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

const stale = await client.PUT('/api/0.3/users/{user_id}', {
  params: { path, header: { 'If-Match': etag } },
  body: { phone: '1' },
});

const query = { status: ['Active'], sort: 'username', order: 'asc', limit: 1 } satisfies Query;
const first = await client.GET('/api/0.3/users/search', { params: { query } });
const after = /[?&]after=([^&>]+)/.exec(first.response.headers.get('link') ?? '')?.[1] ?? '';
const second = await client.GET('/api/0.3/users/search', {
  params: { query: { ...query, after: decodeURIComponent(after) } },
});

const refused = await client.POST('/api/0.3/users', { body: { username: name, email: 'nowhere' } });
const problem: Problem | undefined = refused.error;

async function settled(id: string): Promise<components['schemas']['ImportRunDto']> {
  const params = { path: { import_id: id } };
  const events = await client.GET('/api/0.3/imports/{import_id}/events', { params, parseAs: 'text' });
  if (!events.response.ok) throw new Error(events.response.statusText);
  const run = await client.GET('/api/0.3/imports/{import_id}', { params });
  if (!run.data) throw new Error(run.error.detail);
  return run.data;
}

const upload = await client.POST('/api/0.3/imports', {
  params: { query: { dry_run: true } },
  headers: { 'Content-Type': 'text/csv' },
  body: file,
  bodySerializer: (text) => text,
});
const planned = await settled(upload.data?.id ?? '');
const accepted = await client.POST('/api/0.3/imports/{import_id}/apply', {
  params: { path: { import_id: planned.id } },
});
const applied = await settled(accepted.data?.id ?? '');
const ofRun = { import_id: applied.id };
const rows = await client.GET('/api/0.3/imports/{import_id}/rows', {
  params: { path: ofRun, query: { outcome: ['error'] } },
});
const failed = await client.GET('/api/0.3/imports/{import_id}/failed.csv', {
  params: { path: ofRun },
  parseAs: 'text',
});

// The types allow none of these; nothing of it is sent.
export const mistakes = [
  // @ts-expect-error a field that must be there
  () => client.POST('/api/0.3/users', { body: { username: name } }),
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
    phone: user.phone,
    stale: [stale.error?.status, stale.error?.code],
    pages: first.data?.Results[0]?.uuid !== second.data?.Results[0]?.uuid,
    refused: [problem?.status, problem?.code, problem?.errors?.map(({ field }) => field)],
    states: [planned.state, applied.state],
    rows: rows.data?.Results.map(({ errors }) => errors.map(({ field }) => field)),
    failed: failed.data?.trim().split('\r\n').length,
  }),
);
