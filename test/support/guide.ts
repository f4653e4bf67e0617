import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './process.js';

const BLOCK = /^```(\w+)\n([^]*?)^```$/gm;

/** A block of a document: the language that it names, and its text. */
export interface Block {
  kind: string;
  text: string;
}

/** The blocks of a section of a document. @param path from the root of the project. */
export function blocksOf(path: string, heading: string): Block[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const section = text.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`));
  if (section === undefined) throw new Error(`${path} has no section "${heading}"`);
  return [...section.matchAll(BLOCK)].map(([, kind = '', block = '']) => ({ kind, text: block }));
}

/** Ids and times differ each time, and are as long as in the document. */
export const masked = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => 'i'.repeat(id.length))
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'YYYY-MM-DD hh:mm');

/** Puts the command `rollcall` of the built program into a folder. */
export function addCommand(folder: string): void {
  const path = join(folder, 'rollcall');
  writeFileSync(path, `#!/bin/sh\nexec "${process.execPath}" "${ROOT}dist/cli.js" "$@"\n`);
  chmodSync(path, 0o755);
}

/** What a script prints to standard output. @throws Error if it ends with another code. */
export async function shell(
  script: string,
  folder: string,
  variables: NodeJS.ProcessEnv,
  expected = 0,
): Promise<string> {
  const env = { ...variables, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  const child = spawn('bash', ['-c', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== expected) throw new Error(`${script}\nended with ${code}:\n${out}${err}`);
  return out;
}
