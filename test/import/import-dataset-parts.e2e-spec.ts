import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { LAX_GUARDS } from '../support/app/guards.js';
import { counted, csv, imported, linked } from '../support/app/imports.js';
import { HEAD, people as peopleOf } from '../support/data/user-file.js';

/** Data sets that come in several files (interface §6, option `part`). */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start(LAX_GUARDS)));
afterAll(async () => app.end());

const people = (part: string, count = 30) => peopleOf(`${part}-`, count);
const send = (rows: readonly string[], options: string) => imported(app.key, csv(HEAD, ...rows), options);
const statusOf = async (id: string) => (await linked(app.key, id)).status;

test('each part misses its own users alone', async () => {
  const [north, south] = [people('north'), people('south')];
  const night = async (rows: readonly string[], part: string) =>
    send(rows, `dataset=offices&part=${part}&missing=block`);
  expect((await night(north, 'north')).state).toBe('completed');
  const second = await night(south, 'south');
  expect({ state: second.state, missing: second.missing, part: second.options.part }).toEqual({
    state: 'completed',
    missing: { reported: 0, blocked: 0 },
    part: 'south',
  });
  const gone = await night(north.slice(1), 'north');
  expect([gone.state, gone.missing]).toEqual(['completed', { reported: 1, blocked: 1 }]);
  expect([await statusOf('north-0'), await statusOf('south-0')]).toEqual(['Blocked', 'Active']);
  expect(counted(await night(north, 'north'))).toEqual({ reactivated: 1, unchanged: 29 });
});

test('who moves to another part is active after both files, whichever comes first', async () => {
  const [east, west] = [people('east'), people('west')];
  const night = async (rows: readonly string[], part: string) =>
    send(rows, `dataset=moves&part=${part}&missing=block`);
  await night(east, 'east');
  await night(west, 'west');
  const [mover = ''] = east;
  await night([...west, mover], 'west'); // listed there first, and then no longer here
  expect((await night(east.slice(1), 'east')).missing).toEqual({ reported: 0, blocked: 0 });
  expect(await statusOf('east-0')).toBe('Active');
  expect((await night(west, 'west')).missing).toEqual({ reported: 1, blocked: 1 }); // the other way round
  expect(counted(await night(east, 'east'))).toEqual({ reactivated: 1, unchanged: 29 });
  expect(await statusOf('east-0')).toBe('Active');
});

test('a data set that is cut into parts loses nobody on its first night', async () => {
  const all = people('cut', 40);
  await send(all, 'dataset=cut&missing=block');
  for (const part of [0, 1]) {
    const run = await send(all.slice(part * 20, part * 20 + 20), `dataset=cut&part=p${part}&missing=block`);
    expect([run.state, counted(run), run.missing]).toEqual([
      'completed',
      { unchanged: 20 },
      { reported: 0, blocked: 0 },
    ]);
  }
  const gone = await send(all.slice(1, 20), 'dataset=cut&part=p0&missing=block');
  expect(gone.missing).toEqual({ reported: 1, blocked: 1 });
});

test('a file without a part covers the whole data set, whatever parts its users are of', async () => {
  const [north, south] = [people('whole-n', 20), people('whole-s', 20)];
  await send(north, 'dataset=whole&part=north&missing=block');
  await send(south, 'dataset=whole&part=south&missing=block');
  const rest = [...north.slice(1), ...south.slice(1)];
  const first = await send(rest, 'dataset=whole&missing=block');
  expect([first.state, counted(first), first.missing]).toEqual([
    'completed',
    { unchanged: 38 },
    { reported: 2, blocked: 2 },
  ]);
  // Who is listed by it belongs to no part from then on.
  const later = await send(north.slice(5), 'dataset=whole&part=north&missing=report');
  expect(later.missing).toEqual({ reported: 0, blocked: 0 });
  expect([await statusOf('whole-n-0'), await statusOf('whole-s-0')]).toEqual(['Blocked', 'Blocked']);
});

test('a newer file replaces parked plans of its own part alone', async () => {
  const parked = async (part: string) => {
    await send(people(`park-${part}`, 20), `dataset=park&part=${part}`);
    return send(people(`park-${part}`, 5), `dataset=park&part=${part}&missing=block`);
  };
  const [a, b] = [await parked('a'), await parked('b')];
  expect([a.state, b.state]).toEqual(['needs_approval', 'needs_approval']);
  await send(people('park-b', 6), 'dataset=park&part=b&missing=block');
  const states = await Promise.all(
    [a, b].map(async ({ id }) => (await app.key.get(`/imports/${id}`)).body.state),
  );
  expect(states).toEqual(['needs_approval', 'superseded']);
});
