import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { csv, sendPreview } from '../support/app/imports.js';

/** Profiles that a preview suggests. */
const app = setUpApp();

const preview = async (file: string): Promise<Json> => (await sendPreview(app.key, file, '')).body;

test.each([
  ['Austrittsdatum', ['', '31.12.2026', '1.2.2020'], 'D.M.YYYY'],
  ['Termination date', ['2026-12-31', ''], 'YYYY-MM-DD'],
  ['Exit', ['12/31/2026', '01/02/2020'], 'M/D/YYYY'],
  ['Exit (days and months are ambiguous)', ['01/02/2020'], undefined],
  ['Austrittsgrund', ['Rente', ''], undefined],
  ['Eintrittsdatum', ['1.2.2020'], undefined],
  ['Probation end date', ['2026-12-31'], undefined],
  ['Determination date', ['2026-12-31'], undefined],
  ['Visa terminates', ['2026-12-31'], undefined],
  [`Exit date ${'x'.repeat(300)}`, ['2026-12-31'], undefined],
])('the suggested profile derives the status from the dates in %s, %j: %s', async (name, dates, format) => {
  const rows = dates.map((date, n) => `N${n},p${n}@example.org,${date}`);
  const { suggested } = await preview(csv(`Nr,E-Mail,${name}`, ...rows));
  expect([suggested.active_until, suggested.date_format]).toEqual([format && name, format]);
  const withStatus = await preview(csv(`Nr,E-Mail,${name},Status`, ...rows.map((row) => `${row},Aktiv`)));
  expect(withStatus.suggested.active_until).toBeUndefined();
});

test('the suggested profile has no last day if several columns may contain it', async () => {
  const file = csv('Nr,E-Mail,Exit date,Austrittsdatum', 'N1,p@example.org,2026-12-31,2026-11-30');
  expect((await preview(file)).suggested.active_until).toBeUndefined();
});

test('the suggested profile imports a column of roles with a few unknown words', async () => {
  const rows = Array.from(
    { length: 150 },
    (_, n) => `N${n},p${n}@example.org,${n === 140 ? 'Guest' : 'Editor'}`,
  );
  const { suggested, words } = await preview(csv('Nr,E-Mail,Rolle', ...rows));
  expect([suggested.columns.Rolle, words[0].words.at(-1).meaning]).toEqual(['Roles', null]);
});
