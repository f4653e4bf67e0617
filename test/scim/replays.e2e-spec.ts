import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, jest, test } from '@jest/globals';
import { REPLAYS, createDoctorScimCommand } from '../../src/cli/doctor-scim.command.js';
import { ReplayRun } from '../../src/cli/replays/replay-run.js';
import type { Provider, Step } from '../../src/cli/replays/replay.js';
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

test.each(Object.keys(REPLAYS) as Provider[])(
  'the SCIM replay for %s passes and deletes its resources',
  async (profile) => {
    expect(await replay(profile, REPLAYS[profile])).toEqual({ failed: [], left: [0, 0, 0] });
  },
);

test('a SCIM replay reports unexpected responses', async () => {
  const { failed, left } = await replay('standard', REPLAYS.entra);
  expect(failed).toContainEqual(['disable: "False"', 'status 200 instead of 204']);
  expect(left).toEqual([0, 0, 0]);
});

test('an interrupted SCIM replay removes its resources', async () => {
  const { failed, left } = await replay('okta', REPLAYS.okta, 'push a group with a member');
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
  ['a list of the wrong length', { answer: { Resources: [] } }, 'Resources has 2 elements instead of 0'],
  ['a wrong element of a list', { answer: { Resources: [{}, { id: 'x' }] } }, 'Resources[1].id is '],
  ['a value that should be a list', { answer: { startIndex: [] } }, 'startIndex is not a list'],
  ['a wrong resource after the step', { after: { startIndex: { deep: 1 } } }, 'startIndex is not an object'],
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
  const server = createServer((request, response) => {
    response.statusCode = request.method === 'POST' ? 201 : 503;
    response.end(JSON.stringify({ id: 'made', detail: 'not now' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const run = new ReplayRun(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'a key');
  const step: Step = { title: 'create', method: 'POST', path: '/Users', status: 201, makes: 'user' };
  for await (const { problem } of run.runSteps([step])) expect(problem).toBeUndefined();
  server.close();
  expect(run.remaining).toEqual(['/Users/made (status 503: not now)']);
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
  const badly = await runDoctor('--profile', 'okta', '--key', 'no-such-key');
  expect(badly.code).toBe(1);
  expect(badly.out).toMatch(/^fail {2}GET +page of users +status 401 instead of 200/);
  expect(badly.out).toContain(`okta: 0 of ${REPLAYS.okta.length} steps passed\n`);
});
