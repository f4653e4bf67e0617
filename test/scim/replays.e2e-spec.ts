import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, jest, test } from '@jest/globals';
import { createDoctorScimCommand } from '../../src/cli/doctor-scim.command.js';
import { REPLAYS, type Step } from '../../src/cli/replays/provider-steps.js';
import { ReplayRun } from '../../src/cli/replays/replay-run.js';
import { setUpApp } from '../support/app/app.js';
import { Process } from '../support/process/process.js';
import { provision, scimOf } from '../support/app/scim.js';

/** Replays the requests of identity providers, as `rollcall doctor scim` sends them. */
const SCOPES = ['users:read', 'users:write', 'groups:read', 'groups:write'];

const app = setUpApp();

async function createKey(profile: string): Promise<string> {
  const answer = await app.key.post('/api_keys', { name: profile, profile, scopes: SCOPES });
  expect(answer.status).toBe(201);
  return answer.body.key as string;
}

/** Runs a replay and returns the failed steps and the numbers of users, groups and deleted users that remain. */
async function replay(profile: string, steps: readonly Step[], until = 'the end') {
  const run = new ReplayRun(app.url, await createKey(profile));
  const failed: [string, string][] = [];
  for await (const { step, problem } of run.runSteps(steps)) {
    if (problem !== undefined) failed.push([step.title, problem]);
    if (step.title === until) break;
  }
  const left = [
    await scimOf(app).find(`userName sw "${run.name}"`),
    await scimOf(app).get(`/Groups?filter=${encodeURIComponent(`displayName sw "${run.name}"`)}`),
  ].map(({ body }) => body.totalResults as number);
  return { failed, left: [...left, (await app.key.get('/users/deleted')).body.Count as number] };
}

test.each(Object.entries(REPLAYS))('the SCIM replay for %s passes and cleans up', async (profile, steps) => {
  expect(await replay(profile, steps)).toEqual({ failed: [], left: [0, 0, 0] });
});

test('a SCIM replay reports unexpected responses', async () => {
  const { failed, left } = await replay('standard', REPLAYS.entra);
  expect(failed).toContainEqual(['disable: "False"', 'status 200 instead of 204']);
  expect(left).toEqual([0, 0, 0]);
});

test('an interrupted SCIM replay removes its resources', async () => {
  const { failed, left } = await replay('okta', REPLAYS.okta, 'create a group');
  expect({ failed, left }).toEqual({ failed: [], left: [0, 0, 0] });
  const body = { userName: '{name}', emails: [{ value: '{name}@example.org' }] };
  const conflict: Step = { title: 'conflict', method: 'POST', path: '/Users', status: 409, body };
  expect(await replay('standard', [conflict])).toEqual({
    failed: [['conflict', 'status 201 instead of 409']],
    left: [0, 0, 0],
  });
});

test('rollcall doctor scim deletes its resources after Ctrl-C', async () => {
  const key = await createKey('okta');
  const doctor = Process.startCommand(
    ['doctor', 'scim', '--profile=okta', '--url', app.url, '--key', key],
    {},
  );
  const find = async () => (await scimOf(app).find('userName sw "doctor-"')).body.totalResults as number;
  while ((await find()) === 0);
  doctor.signal('SIGINT');
  expect(await doctor.exit).toEqual({ code: 1, signal: null });
  expect([await find(), doctor.err]).toEqual([0, 'The replay was stopped.\n']);
});

test.each<[string, Partial<Step>, string]>([
  ['a wrong status', { status: 404 }, 'status 200 instead of 404'],
  ['a wrong field', { answer: { startIndex: 2 } }, 'startIndex is 1 instead of 2'],
  ['a field that should be absent', { answer: { Resources: null } }, 'Resources is present'],
  ['a list of the wrong length', { answer: { Resources: [] } }, 'Resources.length is 2 instead of 0'],
  ['a wrong element of a list', { answer: { Resources: [{}, { id: 'x' }] } }, 'Resources.1.id is '],
  ['a value that should be a list', { answer: { startIndex: [] } }, 'startIndex is not a list'],
  ['a value that should be an object', { answer: { startIndex: {} } }, 'startIndex is not an object'],
])('a SCIM replay reports %s', async (_what, changes, problem) => {
  await provision(scimOf(app));
  const page: Step = { title: 'page', method: 'GET', path: '/Users?count=2', status: 200, ...changes };
  const { failed } = await replay('standard', [page]);
  expect(failed).toEqual([['page', expect.stringContaining(problem)]]);
});

test('a SCIM replay skips steps that need a missing user', async () => {
  const { failed } = await replay(
    'okta',
    REPLAYS.okta.filter(({ method }) => method === 'PUT'),
  );
  expect(new Set(failed.map(([, problem]) => problem))).toContain(
    'not sent: an earlier step did not create the user',
  );
});

test('a SCIM replay lists the resources that it could not delete', async () => {
  const server = createServer(({ method, url = '' }, response) => {
    response.statusCode = method === 'GET' && !url.includes('/Groups') ? 200 : 503;
    response.end(JSON.stringify({ Resources: [{ id: 'made' }], detail: 'not now' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const run = new ReplayRun(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'a key');
  for await (const { problem } of run.runSteps([])) expect(problem).toBeUndefined();
  server.close();
  expect(run.remaining).toEqual([
    '/Users/made (status 503 instead of 204: not now)',
    `the Groups whose name begins with ${run.name} (status 503 instead of 200: not now)`,
  ]);
});

/** Runs the command and returns its output and exit code. */
async function runDoctor(...flags: string[]): Promise<{ out: string; code: typeof process.exitCode }> {
  const before = process.exitCode;
  const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await createDoctorScimCommand().parseAsync(['--url', app.url, ...flags], { from: 'user' });
    return { out: write.mock.calls.map(([text]) => String(text)).join(''), code: process.exitCode };
  } finally {
    write.mockRestore();
    process.exitCode = before;
  }
}

test('rollcall doctor scim exits with 1 if a step fails', async () => {
  const well = await runDoctor('--profile', 'okta', '--key', await createKey('okta'));
  expect(well.code).toBe(0);
  expect(well.out).toMatch(/^ok {2,}GET +page of users\n/);
  expect(well.out).toContain(`okta: ${REPLAYS.okta.length} of ${REPLAYS.okta.length} steps passed\n`);
  const badly = await runDoctor('--profile', 'entra', '--key', await createKey('okta'));
  expect(badly.code).toBe(1);
  expect(badly.out).toMatch(/^fail {2}PATCH +disable: "False" +status 200 instead of 204/m);
  await expect(runDoctor('--profile', 'okta', '--key', 'no-such-key')).rejects.toThrow('status 401');
});
