// Creates the package of the built programs. Its package.json lists only the packages that are not bundled. The
// package.json of the repository lists all packages, for advisories and the SBOM (ADR 26).
//   node pack.mjs [folder]   prints the path of the package
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { EXTERNALS } from './externals.mjs';

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const [, , folder = '.'] = process.argv;
const {
  scripts,
  devDependencies,
  optionalDependencies,
  overrides,
  private: _,
  dependencies,
  ...rest
} = read('package.json');
const versionOf = (name) => dependencies[name] ?? read(`node_modules/${name}/package.json`).version;
const needed = Object.fromEntries(EXTERNALS.map((name) => [name, versionOf(name)]));

const stage = mkdtempSync(join(tmpdir(), 'rollcall-pack-'));
try {
  const roots = rest.files.map((pattern) => pattern.split('/*')[0]);
  for (const path of ['README.md', 'LICENSE', ...roots]) cpSync(path, join(stage, path), { recursive: true });
  writeFileSync(
    join(stage, 'package.json'),
    `${JSON.stringify({ ...rest, dependencies: needed }, null, 2)}\n`,
  );
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', resolve(folder)];
  const name = execFileSync('npm', args, { cwd: stage, encoding: 'utf8' }).trim();
  console.log(join(folder, name));
} finally {
  rmSync(stage, { recursive: true, force: true });
}
