import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';

/** A release has a dated section at the top of the changelog, and every file has its version. */
const ROOT = new URL('../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };
const headings = read('CHANGELOG.md').match(/^## .*$/gm) ?? [];

describe('a release', () => {
  const sections = read('CHANGELOG.md')
    .split(/^## .*$/m)
    .slice(1);

  test('is listed in the changelog after the unreleased changes', () => {
    expect(headings[0]).toBe('## Unreleased');
    expect(sections[0]?.trim()).not.toBe('');
  });

  test('is listed in the changelog with a date and upgrade steps', () => {
    const [, latest] = headings;
    if (latest === undefined) return;
    const [, named, day = ''] = /^## (\S+) \((\d{4}-\d{2}-\d{2})\)$/.exec(latest) ?? [];
    expect({ latest, named }).toEqual({ latest, named: version });
    expect(new Date(day).toISOString().slice(0, 10)).toBe(day);
    expect(sections[1]?.trimStart()).toMatch(/^Upgrade from \d+\.\d+\.\d+\n/);
  });

  test('has the same version in package-lock.json', () => {
    const text = read('package-lock.json');
    const lock = JSON.parse(text) as { version: string; packages: Record<string, { version?: string }> };
    expect(lock).toMatchObject({ version, packages: { '': { version } } });
    expect(text.match(/"resolved"/g)).toBeNull();
  });

  test('is the only version that the deployment guide installs', () => {
    const installed = read('docs/deployment.md').match(/\/opt\/rollcall-\d+\.\d+\.\d+/g) ?? [];
    expect(installed).toContain(`/opt/rollcall-${version}`);
    const install = read('docs/deployment.md').split(/^## Upgrade$/m)[0] ?? '';
    expect(new Set(install.match(/\/opt\/rollcall-\d+\.\d+\.\d+/g))).toEqual(
      new Set([`/opt/rollcall-${version}`]),
    );
  });
});
