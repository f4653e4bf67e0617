import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { fieldsOf } from '../../src/platform/common/fields.js';
import { Env, loadEnv } from '../../src/platform/config/env.js';

const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
const lines = text.split('\n');
const set = parseEnv(text) as Record<string, string>;
const unset = lines.flatMap((line) => /^# ([A-Z_]+)=$/.exec(line)?.[1] ?? []);

test('.env.example lists exactly the settings, each once', () => {
  const listed = lines.flatMap((line) => /^(?:# )?([A-Z_]+)=/.exec(line)?.[1] ?? []);
  expect(listed.sort()).toEqual([...fieldsOf(Env)].sort());
});

test('.env.example has the default of every setting, and those without one are commented out', () => {
  const defaults = Object.entries(new Env()).map(([name, value]) => [name, String(value)]);
  expect(set).toEqual(Object.fromEntries(defaults));
  expect(unset.sort()).toEqual([...fieldsOf(Env)].filter((name) => !(name in set)).sort());
});

test('.env.example, copied as it is, gives the defaults', () => {
  expect(loadEnv(set)).toEqual(loadEnv({}));
});

test('.env.example explains every setting in the line above it', () => {
  lines.forEach((line, index) => {
    if (/^(# )?[A-Z_]+=/.test(line)) expect(lines[index - 1]).toMatch(/^# \S.{10,}\.$/);
  });
});

test('every field of the settings is known to be set or unset', () => {
  const source = ['env', 'operation-settings', 'import-guard-settings']
    .map((name) => readFileSync(new URL(`../../src/platform/config/${name}.ts`, import.meta.url), 'utf8'))
    .join('');
  const fields = [...source.matchAll(/^ {2}([A-Z][A-Z_]+)(\?)?:/gm)];
  expect(fields.map(([, name]) => name).sort()).toEqual([...Object.keys(set), ...unset].sort());
  expect(
    fields
      .filter(([, , optional]) => optional)
      .map(([, name]) => name)
      .sort(),
  ).toEqual([...unset].sort());
});
