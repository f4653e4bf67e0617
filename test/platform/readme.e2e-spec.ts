import { expect, test } from '@jest/globals';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { addCommand, blocksOf, masked, shell } from '../support/guide.js';
import { Process, ROOT, newcomer, processDatabase } from '../support/process.js';

/** The first five minutes of the README: a start, and every block in order, with its output. */
const database = processDatabase();

const KEY = /rollcall_[0-9a-f]{12}_[\w-]+_[0-9a-f]{8}/;
/** Addresses, credentials and versions are others for everybody. */
const welcome = (text: string): string =>
  text
    .replaceAll(new RegExp(KEY, 'g'), 'KEY')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replace(/(?<=Password {4})\S+/, 'PASSWORD')
    .replace(/(?<=Rollcall )\d+\.\d+\.\d+/, 'VERSION')
    .trim();

test('every block of the first five minutes does what it shows', async () => {
  const settings = { ...newcomer(database), DATABASE_URL: database.url };
  const service = await Process.running(settings);
  const [, shownWelcome] = blocksOf('README.md', 'Start');
  expect(welcome(service.err)).toBe(welcome(shownWelcome?.text ?? ''));

  const folder = join(database.folder, 'readme');
  mkdirSync(join(folder, 'data'), { recursive: true });
  addCommand(folder);
  symlinkSync(join(ROOT, 'samples'), join(folder, 'samples'));
  const [, api = ''] = /API +(\S+)/.exec(service.err) ?? [];
  const [key = ''] = KEY.exec(service.err) ?? [];
  const [terminal, ...blocks] = blocksOf('README.md', 'Five minutes');
  expect(terminal?.text.replace(KEY, '…')).toBe(
    "export KEY=…\nexport API=http://127.0.0.1:3000/api/0.3\nalias rollcall='node dist/cli.js'\n",
  );

  let printed = '';
  let id = '';
  const shown: string[] = [];
  for (const { kind, text } of blocks) {
    if (kind === 'sh') {
      const script = text.replace(/^ID=.*$/m, `ID=${id}`);
      const isParked = text.includes('broken.csv\n') && text.includes('rollcall import ');
      printed = await shell(script, folder, { ...settings, KEY: key, API: api, ID: id }, isParked ? 2 : 0);
      id = /^Import (\S+): needs_approval$/m.exec(printed)?.[1] ?? id;
    } else {
      shown.push(printed);
      expect(masked(printed).trim()).toBe(masked(text).trim());
    }
  }
  expect(shown).toHaveLength(4);
});
