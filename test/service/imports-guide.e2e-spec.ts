import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { API_KEY, TestApp } from '../support/app/app.js';
import { type TestDatabase, freshDatabase } from '../support/app/database.js';
import { missTick } from '../support/app/drop-folder.js';
import type { Block } from '../support/process/guide/blocks.js';
import { README_KEY, addCommand } from '../support/process/guide/clone.js';
import { follow } from '../support/process/guide/guide.js';
import { settled } from '../support/app/imports.js';
import { newcomer } from '../support/process/process.js';

/** The guide from an export to a schedule (docs/imports.md): every block of it is run, in order, with its output. */
let database: TestDatabase;
let app: TestApp;
jest.setTimeout(300_000);
beforeEach(async () => void (database = await freshDatabase()));
afterEach(async () => {
  await app.stop();
  await database.drop();
});

test('every block of the guide does what it shows', async () => {
  const folder = join(database.folder, 'guide');
  mkdirSync(join(folder, 'drop/processing'), { recursive: true });
  let settings: Record<string, string> = {};
  let parked = 0;
  app = await TestApp.on(database, settings);

  const restarted = async (): Promise<TestApp> => {
    await app.stop(); // waits for the turn that every start begins with
    return (app = await TestApp.on(database, settings));
  };
  const newest = async (): Promise<string> => {
    const [run] = (await app.key.get('/imports?limit=1')).body.Results;
    return (run as { id: string } | undefined)?.id ?? '';
  };
  const alerts = async (count: number): Promise<void> => {
    const watcher = watch(folder);
    const file = join(folder, 'alerts.txt');
    const told = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0);
    while (told() < count) await once(watcher, 'change');
    watcher.close();
  };
  /** The tick of a night, which was missed and is made up. */
  const night = async (): Promise<void> => {
    await app.stop(); // waits for the turn of its start, which notes the tick before
    app = await TestApp.on(database);
    const before = await newest();
    await missTick(app);
    const watcher = watch(join(folder, 'drop/processing'));
    const claimed = once(watcher, 'change');
    await restarted();
    await claimed;
    watcher.close();
    let id = before;
    while (id === before) id = await newest(); // the schedule has claimed the file, and makes a run of it
    const { state } = await settled(app.key, id);
    if (state === 'needs_approval') await alerts(++parked);
  };

  const done = await follow('docs/imports.md', {
    folder,
    variables: { ...newcomer(database), DATABASE_URL: database.url, PATH: addCommand(folder) },
    knows: { [README_KEY]: API_KEY },
    here: (script) => script.replaceAll('http://127.0.0.1:3000', app.url),
    after: async ({ kind, text }: Block) => {
      if (kind === 'sh' && text.includes('drop/payroll')) await night();
      if (kind !== 'ini') return;
      settings = Object.fromEntries(
        text
          .trimEnd()
          .split('\n')
          .map((line) => line.split(/=(.*)/s).slice(0, 2)),
      );
      for (const name of ['IMPORT_FOLDER', 'NOTIFY_COMMAND'])
        settings[name] = join(folder, settings[name] ?? '');
      await restarted();
    },
  });
  expect(done.compared).toBeGreaterThan(12);
});
