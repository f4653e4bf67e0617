import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { csv, decide, readRun, runImport, awaitRun, upload } from '../support/app/imports.js';
import { databaseOf, inSeconds } from '../support/app/people.js';
import { HEAD, people } from '../support/data/user-file.js';

/** Progress of a run in its events. */
const app = setUpApp();

/** Returns the events of a run until it ends or waits. */
async function readEvents(id: string): Promise<Json[]> {
  const { text } = await app.key.get(`/imports/${id}/events`);
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.split('data: ')[1] ?? ''));
}

function expectIncrease(runs: readonly Json[]): void {
  for (const [index, { progress }] of runs.entries()) {
    const before = runs[Math.max(0, index - 1)].progress;
    expect(progress.percent).toBeGreaterThanOrEqual(before.percent);
    expect(progress.rows_done).toBeGreaterThanOrEqual(before.rows_done);
    if (progress.rows_total !== null) {
      expect(Math.abs(progress.rows_done / progress.rows_total - progress.percent / 100)).toBeLessThan(0.011);
    }
  }
}

test('the progress of an import never decreases', async () => {
  await runImport(app.key, csv(HEAD, ...people('q', 4000)), 'dataset=q');
  const renamed = people('q', 4000).map((row) => row.replace('@example.org', '@example.com'));
  const { id } = (await upload(app.key, csv(HEAD, ...renamed), 'dataset=q')).body;
  const planning = await readEvents(id);
  const parked = { state: 'needs_approval', progress: { percent: 33, eta_seconds: null } };
  expect(planning.at(-1)).toMatchObject(parked);
  const approved = (await app.key.post(`/imports/${id}/apply`)).body;
  const applying = await readEvents(id);
  expect(planning.length + applying.length).toBeGreaterThan(3);
  expectIncrease([...planning, approved, ...applying]);
  const end = { phase: 'completed', rows_done: 4000, rows_total: 4000, percent: 100, eta_seconds: null };
  expect(applying.at(-1)?.progress).toEqual(end);
});

test('applying a dry run restarts the progress at 0', async () => {
  const planned = await runImport(app.key, csv(HEAD, ...people('d', 300)), 'dataset=d&dry_run=true');
  expect(planned.progress).toMatchObject({ percent: 100, rows_done: 300, rows_total: 300 });
  const approved = (await app.key.post(`/imports/${planned.id}/apply`)).body;
  expect(approved.progress).toMatchObject({ percent: 0, rows_done: 0 });
  expectIncrease([approved, ...(await readEvents(planned.id))]);
  expect((await awaitRun(app.key, planned.id)).progress).toMatchObject({ percent: 100, rows_done: 300 });
});

test.each(['apply', 'reject'])(
  'the duration of a run excludes the time before its decision (%s)',
  async (decision) => {
    const { id } = await runImport(app.key, csv(HEAD, ...people(`t-${decision}`, 1)), 'dry_run=true');
    const update = 'UPDATE import_runs SET started = ?, phase_started = ? WHERE id = ?';
    await databaseOf(app).execute(update, [inSeconds(-3610), inSeconds(-3600), id]);
    expect((await readRun(app.key, id)).duration_seconds).toBeNull();
    const { duration_seconds: seconds } = await decide(app.key, id, decision);
    expect(seconds).toBeGreaterThanOrEqual(9);
    expect(seconds).toBeLessThan(3600);
  },
);

test('runs are listed by profile, starter, time and data set', async () => {
  const run = await runImport(app.key, csv(HEAD, ...people('f', 1)), 'dataset=f&profile=moodle');
  const list = async (query: string) => {
    const { Count, Results } = (await app.key.get(`/imports?${query}`)).body;
    return [Count, Results.some(({ id }: Json) => id === run.id)];
  };
  const later = inSeconds(24 * 3600).slice(0, 10);
  const all = `dataset=f&profile=moodle&actor=${run.actor.id}&created_since=${run.created}&created_until=${later}`;
  expect(await list(all)).toEqual([1, true]);
  expect(await list('profile=moodle')).toEqual([1, true]);
  const others = [
    'profile=canvas',
    `actor=${run.id}`,
    `created_since=${later}`,
    `created_until=${run.created}`,
  ];
  for (const other of others) expect((await list(other))[1]).toBe(false);
  expect((await app.key.get('/imports?created_since=soon')).status).toBe(400);
});
