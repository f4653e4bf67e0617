import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { API_KEY, TestApp } from '../support/app.js';
import { type TestDatabase, freshDatabase } from '../support/database.js';
import { missTick } from '../support/drop-folder.js';
import { settled } from '../support/imports.js';
import { addCommand, blocksOf, masked, shell } from '../support/guide.js';
import { newcomer } from '../support/process.js';

/** The guide from an export to a schedule (docs/imports.md): every block of it is run, in order, with its output. */
const blocks = () => blocksOf('docs/imports.md', 'From an export to a schedule');

let database: TestDatabase;
let app: TestApp | undefined;
jest.setTimeout(300_000);
beforeEach(async () => void (database = await freshDatabase()));
afterEach(async () => {
  await app?.stop();
  await database.drop();
});

test('every block of the guide does what it shows', async () => {
  const folder = join(database.folder, 'guide');
  mkdirSync(join(folder, 'drop/processing'), { recursive: true });
  addCommand(folder);
  let settings: Record<string, string> = {};
  let id = '';
  app = await TestApp.on(database, settings);

  const run = (script: string): Promise<string> =>
    shell(script, folder, {
      ...newcomer(database),
      DATABASE_URL: database.url,
      KEY: API_KEY,
      URL: app?.url,
      ID: id,
    });
  const restarted = async (): Promise<TestApp> => {
    await app?.stop(); // waits for the turn that every start begins with
    return (app = await TestApp.on(database, settings));
  };
  const newest = async (on: TestApp): Promise<string> => {
    const [run] = (await on.key.get('/imports?limit=1')).body.Results;
    return (run as { id: string } | undefined)?.id ?? '';
  };
  /** The tick of a night, which was missed and is made up. */
  const night = async (): Promise<void> => {
    await app?.stop(); // waits for the turn of its start, which notes the tick before
    app = await TestApp.on(database);
    const before = await newest(app);
    await missTick(app);
    const watcher = watch(join(folder, 'drop/processing'));
    const claimed = once(watcher, 'change');
    const service = await restarted();
    await claimed;
    watcher.close();
    while ((id = await newest(service)) === before); // the schedule has claimed the file, and makes a run of it
    const { state } = await settled(service.key, id);
    if (state === 'needs_approval') await alerts(++parked);
  };

  let parked = 0;
  const alerts = async (count: number): Promise<void> => {
    const watcher = watch(folder);
    const told = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0);
    const file = join(folder, 'alerts.txt');
    while (told() < count) await once(watcher, 'change');
    watcher.close();
  };

  const shown: string[] = [];
  let printed = '';
  for (const { kind, text } of blocks()) {
    if (kind === 'ini') {
      const lines = text.trimEnd().split('\n');
      settings = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
      for (const name of ['IMPORT_FOLDER', 'NOTIFY_COMMAND'])
        settings[name] = join(folder, settings[name] ?? '');
      await restarted();
    } else if (kind === 'sh') {
      printed = await run(text);
      if (text.includes('drop/payroll')) await night();
      else id = await newest(app);
    } else {
      shown.push(printed);
      expect(masked(printed)).toBe(masked(text));
    }
  }
  expect(shown.length).toBeGreaterThan(8);
});
