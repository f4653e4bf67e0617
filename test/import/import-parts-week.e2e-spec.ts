import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { csv, imported } from '../support/app/imports.js';
import { HEAD, people } from '../support/data/user-file.js';

/** The guards of a week, where a data set comes in parts (interface §6): its sum and its limit are those of the data set. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start({ FUSE_MIN: '0' })));
afterAll(async () => app.end());

const OFFICES = 10;
const SIZE = 40;
const file = (name: string, from: number) => csv(HEAD, ...people(`${name}-`, SIZE).slice(from));

/** The runs of all offices of a data set on one night. */
async function night(dataset: string, from: number): Promise<string[]> {
  const states: string[] = [];
  for (let office = 0; office < OFFICES; office++) {
    const body = file(`${dataset}-${office}`, from);
    const run = await imported(app.key, body, `dataset=${dataset}&part=o${office}&missing=block`);
    const hits = run.guards.filter(({ hit }: { hit: boolean }) => hit);
    states.push([run.state, ...hits.map(({ name }: { name: string }) => name)].join(' '));
  }
  return states;
}
const all = (state: string) => Array.from({ length: OFFICES }, () => state);

test('one leaver in each of ten offices passes, as the ten do in one file', async () => {
  expect(await night('ordinary', 0)).toEqual(all('completed'));
  expect(await night('ordinary', 1)).toEqual(all('completed'));
  expect(await night('ordinary', 2)).toEqual(all('completed'));
});

test('a few leavers more of each office every night stop at a fifth of the data set', async () => {
  await night('slow', 0);
  const states = [...(await night('slow', 4)), ...(await night('slow', 7)), ...(await night('slow', 10))];
  const parked = states.find((state) => state.startsWith('needs_approval'));
  expect(parked).toMatch(/^needs_approval deactivations\b/);
  const runs = await app.key.get('/imports?limit=100');
  const blocked = (
    runs.body.Results as { state: string; options: { dataset: string }; missing: { blocked: number } }[]
  )
    .filter(({ state, options }) => state === 'completed' && options.dataset === 'slow')
    .reduce((sum, { missing }) => sum + missing.blocked, 0);
  expect(blocked).toBeGreaterThan(40);
  expect(blocked).toBeLessThanOrEqual(80);
});
