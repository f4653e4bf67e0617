import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_KEY, TestApp } from '../support/app.js';
import { type TestDatabase, freshDatabase } from '../support/database.js';
import { missTick } from '../support/drop-folder.js';
import { settled } from '../support/imports.js';
import { ROOT, newcomer } from '../support/process.js';

/** The guide from an export to a schedule (docs/imports.md): every block of it is run, in order, with its output. */
const GUIDE = join(ROOT, 'docs/imports.md');
const BLOCK = /^```(\w+)\n([^]*?)^```$/gm;
const section = () =>
  /^## From an export to a schedule\n[^]*?(?=^## )/m.exec(readFileSync(GUIDE, 'utf8'))?.[0] ?? '';
const blocks = () => [...section().matchAll(BLOCK)].map(([, kind = '', text = '']) => ({ kind, text }));

/** Ids and times differ each time, and are as long as in the guide. */
const masked = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => 'i'.repeat(id.length))
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'YYYY-MM-DD hh:mm');

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
  writeFileSync(
    join(folder, 'rollcall'),
    `#!/bin/sh\nexec "${process.execPath}" "${ROOT}dist/cli.js" "$@"\n`,
  );
  chmodSync(join(folder, 'rollcall'), 0o755);
  let settings: Record<string, string> = {};
  let id = '';
  app = await TestApp.on(database, settings);

  const shell = async (script: string): Promise<string> => {
    const env = {
      ...newcomer(database),
      DATABASE_URL: database.url,
      PATH: `${folder}:${process.env['PATH'] ?? ''}`,
      KEY: API_KEY,
      URL: app?.url,
      ID: id,
    };
    const child = spawn('bash', ['-c', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    if (code !== 0) throw new Error(`${script}\nended with ${code}:\n${out}${err}`);
    return out;
  };
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
      printed = await shell(text);
      if (text.includes('drop/payroll')) await night();
      else id = await newest(app);
    } else {
      shown.push(printed);
      expect(masked(printed)).toBe(masked(text));
    }
  }
  expect(shown.length).toBeGreaterThan(8);
});
