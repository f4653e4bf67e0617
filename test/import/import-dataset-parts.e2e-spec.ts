import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { LAX_GUARDS } from '../support/app/guards.js';
import { countsOf, csv, expectRun, readRun, runImport, findUser } from '../support/app/imports.js';
import { HEAD, people as peopleOf } from '../support/data/user-file.js';

/** Data sets that a source delivers in several files (interface §6, option `part`). */
const app = setUpApp(LAX_GUARDS);

const people = (part: string, count = 30) => peopleOf(`${part}-`, count);
const send = (rows: readonly string[], options: string) => runImport(app.key, csv(HEAD, ...rows), options);
const NONE = { reported: 0, blocked: 0 };
const statusOf = async (id: string) => (await findUser(app.key, id)).status;

test('an import of a part counts only missing users of the part', async () => {
  const [north, south] = [people('north'), people('south')];
  const sendPart = async (rows: readonly string[], part: string) =>
    send(rows, `dataset=offices&part=${part}&missing=block`);
  expect((await sendPart(north, 'north')).state).toBe('completed');
  const second = await sendPart(south, 'south');
  expectRun(second, 'completed', { created: 30 }, NONE);
  expect(second.options.part).toBe('south');
  const later = await sendPart(north.slice(1), 'north');
  expect([later.state, later.missing]).toEqual(['completed', { reported: 1, blocked: 1 }]);
  expect(await statusOf('north-0')).toBe('Blocked');
  expect(await statusOf('south-0')).toBe('Active');
  expect(countsOf(await sendPart(north, 'north'))).toEqual({ reactivated: 1, unchanged: 29 });
});

test('moving a user to another part leaves the user active', async () => {
  const [east, west] = [people('east'), people('west')];
  const sendPart = async (rows: readonly string[], part: string) =>
    send(rows, `dataset=moves&part=${part}&missing=block`);
  await sendPart(east, 'east');
  await sendPart(west, 'west');
  const [mover = ''] = east;
  await sendPart([...west, mover], 'west'); // added to the new part first
  expect((await sendPart(east.slice(1), 'east')).missing).toEqual(NONE);
  expect(await statusOf('east-0')).toBe('Active');
  expect((await sendPart(west, 'west')).missing).toEqual({ reported: 1, blocked: 1 }); // removed from the old part first
  expect(countsOf(await sendPart(east, 'east'))).toEqual({ reactivated: 1, unchanged: 29 });
  expect(await statusOf('east-0')).toBe('Active');
});

test('splitting a data set into parts creates no missing users', async () => {
  const all = people('cut', 40);
  await send(all, 'dataset=cut&missing=block');
  for (const part of [0, 1]) {
    const run = await send(all.slice(part * 20, part * 20 + 20), `dataset=cut&part=p${part}&missing=block`);
    expectRun(run, 'completed', { unchanged: 20 }, NONE);
  }
  const later = await send(all.slice(1, 20), 'dataset=cut&part=p0&missing=block');
  expect(later.missing).toEqual({ reported: 1, blocked: 1 });
});

test('an import without a part covers all parts of the data set', async () => {
  const [north, south] = [people('whole-n', 20), people('whole-s', 20)];
  await send(north, 'dataset=whole&part=north&missing=block');
  await send(south, 'dataset=whole&part=south&missing=block');
  const rest = [...north.slice(1), ...south.slice(1)];
  const first = await send(rest, 'dataset=whole&missing=block');
  expectRun(first, 'completed', { unchanged: 38 }, { reported: 2, blocked: 2 });
  // Users in this file no longer belong to a part.
  const later = await send(north.slice(5), 'dataset=whole&part=north&missing=report');
  expect(later.missing).toEqual(NONE);
  expect(await statusOf('whole-n-0')).toBe('Blocked');
  expect(await statusOf('whole-s-0')).toBe('Blocked');
});

test('an import of a part supersedes only waiting imports of the part', async () => {
  const sendWaiting = async (part: string) => {
    await send(people(`park-${part}`, 20), `dataset=park&part=${part}`);
    return send(people(`park-${part}`, 5), `dataset=park&part=${part}&missing=block`);
  };
  const [a, b] = [await sendWaiting('a'), await sendWaiting('b')];
  expect({ a: a.state, b: b.state }).toEqual({ a: 'needs_approval', b: 'needs_approval' });
  await send(people('park-b', 6), 'dataset=park&part=b&missing=block');
  const runs = await Promise.all([a, b].map(({ id }) => readRun(app.key, id)));
  expect(runs.map(({ state }) => state)).toEqual(['needs_approval', 'superseded']);
});

test('the deactivations guard adds up the missing users of each part separately', async () => {
  const sendShort = async (part: string, from: number): Promise<string> => {
    const run = await send(people(part, 40).slice(from), `dataset=slow&part=${part}&missing=block`);
    return run.state as string;
  };
  // Three users may be missing in a run, and six users in the runs of 30 days.
  for (const from of [0, 3, 6]) expect(await sendShort('slow-n', from)).toBe('completed');
  for (const from of [0, 3, 6]) expect(await sendShort('slow-s', from)).toBe('completed');
  expect(await sendShort('slow-n', 7)).toBe('needs_approval');
});
