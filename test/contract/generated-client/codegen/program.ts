import { ApiError, ImportRunDto, ImportsService, OpenAPI, type ProblemDto, UsersService } from './api';

/** The main job on what openapi-typescript-codegen makes of the file; see `generated-client.e2e-spec.ts`. */
const { API_URL = '', API_KEY = '', NAME: name = '', FILE: file = '' } = process.env;
OpenAPI.BASE = API_URL;
OpenAPI.HEADERS = { 'X-API-Key': API_KEY };

async function problemOf(request: Promise<unknown>): Promise<ProblemDto> {
  const thrown: unknown = await request.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ApiError)) throw thrown;
  return thrown.body as ProblemDto;
}

const { uuid: userId } = await UsersService.createUser({
  requestBody: { username: name, email: `${name}@example.org` },
});
const read = await UsersService.getUser({ userId });
const requestBody = { phone: '+44 20 7946 0958' };
// This client does not show the headers of an answer: any version that there is, and one that there is not.
const changed = await UsersService.updateUser({ userId: read.uuid, ifMatch: '*', requestBody });
const stale = await problemOf(UsersService.updateUser({ userId, ifMatch: '"0.0.webmaster"', requestBody }));

const page = { limit: 1, sort: 'username', order: 'asc' } as const;
const first = await UsersService.searchUsers(page);
const second = await UsersService.searchUsers({ ...page, offset: 1 });

const refusal = await problemOf(
  UsersService.createUser({ requestBody: { username: name, email: 'nowhere' } }),
);

const AT_WORK: readonly string[] = ['queued', 'validating', 'applying'];
async function settled(importId: string): Promise<ImportRunDto> {
  for (;;) {
    const run = await ImportsService.getImport({ importId });
    if (!AT_WORK.includes(run.state)) return run;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const upload = await ImportsService.startImport({ formData: { file: new Blob([file]) }, dryRun: true });
const planned = await settled(upload.id);
const accepted = await ImportsService.applyImport({ importId: planned.id });
const applied = await settled(accepted.id);
const rows = await ImportsService.listImportRows({ importId: applied.id, outcome: ['error'] });
const failed = await ImportsService.downloadFailedRows({ importId: applied.id });

console.log(
  JSON.stringify({
    phone: changed.phone,
    stale: [stale.status, stale.code],
    pages: first.Results[0]?.uuid !== second.Results[0]?.uuid,
    refused: [refusal.status, refusal.code, refusal.errors?.map(({ field }) => field)],
    states: [planned.state, applied.state],
    rows: rows.Results.map(({ errors }) => errors.map(({ field }) => field)),
    failed: failed.trim().split('\r\n').length,
  }),
);
