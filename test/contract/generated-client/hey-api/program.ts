import {
  type CreateUserError,
  type ImportRunDto,
  applyImport,
  createUser,
  downloadFailedRows,
  getImport,
  getUser,
  listImportRows,
  searchUsers,
  startImport,
  updateUser,
  watchImport,
} from './api';
import { client } from './api/client.gen';

/** The main job on what @hey-api/openapi-ts makes of the file; see `generated-client.e2e-spec.ts`. */
const { API_URL: baseUrl = '', API_KEY = '', NAME: name = '', FILE: file = '' } = process.env;
client.setConfig({ baseUrl, auth: API_KEY });
const must = { throwOnError: true } as const;

const { data: made } = await createUser({ ...must, body: { username: name, email: `${name}@example.org` } });
const path = { user_id: made.uuid };
const read = await getUser({ ...must, path });
const headers = { 'If-Match': read.response.headers.get('etag') ?? '' };
const changed = await updateUser({ ...must, path, headers, body: { phone: '+44 20 7946 0958' } });
const stale = await updateUser({ path, headers, body: { phone: '1' } });

const query = { limit: 1, sort: 'username', order: 'asc' } as const;
const first = await searchUsers({ ...must, query });
const after = /[?&]after=([^&>]+)/.exec(first.response.headers.get('link') ?? '')?.[1] ?? '';
const second = await searchUsers({ ...must, query: { ...query, after: decodeURIComponent(after) } });

const refused = await createUser({ body: { username: name, email: 'nowhere' } });
const refusal: CreateUserError | undefined = refused.error;

async function settled(id: string): Promise<ImportRunDto> {
  const { stream } = await watchImport({ path: { import_id: id } });
  let seen = 0;
  for await (const run of stream) if (run.id === id) seen++; // until the run has ended or waits
  if (seen === 0) throw new Error('no event came');
  return (await getImport({ ...must, path: { import_id: id } })).data;
}

// If a request accepts several body types, this generator supports only JSON.
const csv = { body: file as never, bodySerializer: null, headers: { 'Content-Type': 'text/csv' } };
const upload = await startImport({ ...must, ...csv, query: { dry_run: true } });
const planned = await settled(upload.data.id);
const { data: accepted } = await applyImport({ ...must, path: { import_id: planned.id } });
const applied = await settled(accepted.id);
const ofRun = { import_id: applied.id };
const { data: rows } = await listImportRows({ ...must, path: ofRun, query: { outcome: ['error'] } });
const { data: failed } = await downloadFailedRows({ ...must, path: ofRun });

console.log(
  JSON.stringify({
    phone: changed.data.phone,
    stale: [stale.response?.status, stale.error?.code],
    pages: first.data.Results[0]?.uuid !== second.data.Results[0]?.uuid,
    refused: [refusal?.status, refusal?.code, refusal?.errors?.map(({ field }) => field)],
    states: [planned.state, applied.state],
    rows: rows.Results.map(({ errors }) => errors.map(({ field }) => field)),
    failed: failed.trim().split('\r\n').length,
  }),
);
