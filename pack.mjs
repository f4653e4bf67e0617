// Around `npm pack` and `npm publish`: the package's description has the packages that the bundle needs, and no others, while the
// repository's keeps all that the bundle is made of, which advisories and the SBOM are about (ADR 26).
//   node pack.mjs trim     before: keeps the repository's package.json beside it
//   node pack.mjs restore  afterwards, and before anything else where a run was broken off
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { EXTERNALS } from './externals.mjs';

const FILE = 'package.json';
const KEPT = 'package.json.kept';

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

function restore() {
  if (existsSync(KEPT)) renameSync(KEPT, FILE);
}

function trim() {
  restore();
  const text = readFileSync(FILE, 'utf8');
  const {
    scripts: _s,
    devDependencies: _d,
    overrides: _o,
    private: _p,
    dependencies,
    ...rest
  } = JSON.parse(text);
  const versionOf = (name) => dependencies[name] ?? read(`node_modules/${name}/package.json`).version;
  const needed = Object.fromEntries(EXTERNALS.map((name) => [name, versionOf(name)]));
  writeFileSync(KEPT, text);
  writeFileSync(FILE, `${JSON.stringify({ ...rest, dependencies: needed }, null, 2)}\n`);
}

const steps = { trim, restore };
const step = steps[process.argv[2]];
if (!step) throw new Error('node pack.mjs trim|restore');
step();
