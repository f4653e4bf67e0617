import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { API_KEY, TestApp } from '../support/app/app.js';
import { type TestDatabase, createDatabase } from '../support/app/database.js';
import { missTick } from '../support/app/drop-folder.js';
import type { Block } from '../support/process/guide/blocks.js';
import { README_KEY, addCommand } from '../support/process/guide/clone.js';
import { runGuide } from '../support/process/guide/guide.js';
import { awaitRun } from '../support/app/imports.js';
import { envOf } from '../support/process/process.js';

/** Runs every command block of docs/imports.md in order, and compares the documented output. */
let database: TestDatabase;
let app: TestApp;
beforeEach(async () => void (database = await createDatabase()));
afterEach(async () => {
  await app.stop();
  await database.drop();
});

test('every command of docs/imports.md prints its documented output', async () => {
  const folder = join(database.folder, 'guide');
  mkdirSync(join(folder, 'drop/processing'), { recursive: true });
  let settings: Record<string, string> = {};
  let parked = 0;
  app = await TestApp.startOn(database, settings);

  const restart = async (): Promise<TestApp> => {
    await app.stop(); // waits for the check of the schedule at start
    return (app = await TestApp.startOn(database, settings));
  };
  const findNewest = async (): Promise<string> => {
    const [run] = (await app.key.get('/imports?limit=1')).body.Results;
    return (run as { id: string } | undefined)?.id ?? '';
  };
  const waitForAlerts = async (count: number): Promise<void> => {
    const watcher = watch(folder);
    const file = join(folder, 'alerts.txt');
    const countAlerts = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0);
    while (countAlerts() < count) await once(watcher, 'change');
    watcher.close();
  };
  /** Restarts the service after a missed scheduled time, so that the schedule catches up. */
  const runNight = async (): Promise<void> => {
    await app.stop(); // waits for the check at start, which records the previous scheduled time
    app = await TestApp.startOn(database);
    const before = await findNewest();
    await missTick(app);
    const watcher = watch(join(folder, 'drop/processing'));
    const moved = once(watcher, 'change');
    await restart();
    await moved;
    watcher.close();
    let id = before;
    while (id === before) id = await findNewest(); // the schedule has moved the file and creates a run
    const { state } = await awaitRun(app.key, id);
    if (state === 'needs_approval') await waitForAlerts(++parked);
  };

  const done = await runGuide('docs/imports.md', {
    folder,
    variables: { ...envOf(database), DATABASE_URL: database.url, PATH: addCommand(folder) },
    knows: { [README_KEY]: API_KEY },
    here: (script) => script.replaceAll('http://127.0.0.1:3000', app.url),
    after: async ({ kind, text }: Block) => {
      if (kind === 'sh' && text.includes('drop/payroll')) await runNight();
      if (kind !== 'ini') return;
      settings = Object.fromEntries(
        text
          .trimEnd()
          .split('\n')
          .map((line) => line.split(/=(.*)/s).slice(0, 2)),
      );
      for (const name of ['IMPORT_FOLDER', 'NOTIFY_COMMAND'])
        settings[name] = join(folder, settings[name] ?? '');
      await restart();
    },
  });
  expect(done.compared).toBeGreaterThan(12);
});
