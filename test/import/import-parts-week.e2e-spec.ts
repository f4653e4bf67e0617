import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { csv, runImport } from '../support/app/imports.js';
import { HEAD, people } from '../support/data/user-file.js';

/** The weekly limit of the deactivations guard, which applies to a data set with all its parts (interface §6). */
const app = setUpApp({ FUSE_MIN: '0' });

const OFFICES = 10;
const SIZE = 40;
const file = (name: string, from: number) => csv(HEAD, ...people(`${name}-`, SIZE).slice(from));

/** Imports the files of all offices of a data set. @returns the state and the hit guards of each run. */
async function send(dataset: string, from: number): Promise<string[]> {
  const states: string[] = [];
  for (let office = 0; office < OFFICES; office++) {
    const body = file(`${dataset}-${office}`, from);
    const run = await runImport(app.key, body, `dataset=${dataset}&part=o${office}&missing=block`);
    const hits = run.guards.filter(({ hit }: { hit: boolean }) => hit);
    states.push([run.state, ...hits.map(({ name }: { name: string }) => name)].join(' '));
  }
  return states;
}
const repeatState = (state: string) => Array.from({ length: OFFICES }, () => state);

test('imports of ten parts need no approval if each part lacks one user', async () => {
  expect(await send('ordinary', 0)).toEqual(repeatState('completed'));
  expect(await send('ordinary', 1)).toEqual(repeatState('completed'));
  expect(await send('ordinary', 2)).toEqual(repeatState('completed'));
});

test('the deactivations guard adds up the blocked users of all parts', async () => {
  await send('slow', 0);
  const states = [...(await send('slow', 4)), ...(await send('slow', 7)), ...(await send('slow', 10))];
  const waiting = states.find((state) => state.startsWith('needs_approval'));
  expect(waiting).toMatch(/^needs_approval deactivations\b/);
  const runs = await app.key.get('/imports?limit=100');
  const blocked = (
    runs.body.Results as { state: string; options: { dataset: string }; missing: { blocked: number } }[]
  )
    .filter(({ state, options }) => state === 'completed' && options.dataset === 'slow')
    .reduce((sum, { missing }) => sum + missing.blocked, 0);
  expect(blocked).toBeGreaterThan(40);
  expect(blocked).toBeLessThanOrEqual(80);
});
