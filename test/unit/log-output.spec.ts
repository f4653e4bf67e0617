import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { LogOutput } from '../../src/platform/telemetry/log.js';
import { setUpFolder } from '../support/data/folder.js';

const pipe = join(setUpFolder(), 'pipe');
let reader: number;
let writer: number;
beforeEach(() => {
  execFileSync('mkfifo', [pipe]);
  reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  writer = openSync(pipe, constants.O_WRONLY);
});
afterEach(() => {
  closeSync(writer);
});

const LINE = `${'x'.repeat(999)}\n`;

function readAll(): string {
  const buffer = Buffer.alloc(64 * 1024);
  let text = '';
  for (;;) {
    try {
      const length = readSync(reader, buffer);
      if (length === 0) return text;
      text += buffer.toString('utf8', 0, length);
    } catch {
      return text; // no more data
    }
  }
}

test('logging to an unread pipe does not block', async () => {
  const output = new LogOutput(writer);
  for (let line = 0; line < 5000; line++) expect(output.write(LINE)).toBe(0);
  let text = '';
  for (let quiet = 0; quiet < 5; quiet++) {
    const more = readAll();
    if (more !== '') quiet = 0;
    text += more;
    await new Promise((resolve) => setTimeout(resolve, 60)); // the pause before the next attempt
  }
  const lines = text.split('\n').slice(0, -1);
  expect(lines.every((line) => line.length === 999)).toBe(true);
  expect(lines.length).toBeGreaterThan(1000);
  expect(lines.length).toBeLessThan(1200); // one MiB and the content of the pipe
  expect(output.write(LINE)).toBe(5000 - lines.length); // returns the number of lost lines
  expect(output.write(LINE)).toBe(0);
  closeSync(reader);
});

test('writing to a reopened pipe returns the number of lost lines', () => {
  const output = new LogOutput(writer);
  output.write(LINE);
  closeSync(reader);
  for (let line = 0; line < 3; line++) expect(output.write(LINE)).toBe(0);
  reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  expect(output.write(LINE)).toBe(3);
  expect(readAll()).toMatch(/x\n$/);
  closeSync(reader);
});

test.each([1, 2])('a log line after %d partial writes starts on a new line', async (cuts) => {
  const output = new LogOutput(writer);
  output.write(`${'y'.repeat(300_000)}\n`);
  for (let cut = 1; cut < cuts; cut++) {
    readAll();
    await new Promise((resolve) => setTimeout(resolve, 60)); // the pause before the next attempt
  }
  closeSync(reader);
  await new Promise((resolve) => setTimeout(resolve, 60));
  reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const begun = readAll();
  expect(output.write(LINE)).toBe(1);
  const [torn, ...lines] = (begun + readAll()).split('\n');
  expect(torn).toMatch(/^y+$/);
  expect(lines).toEqual([LINE.trim(), '']);
  closeSync(reader);
});
