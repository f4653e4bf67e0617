// Builds the service and the console into dist/: compiles src/ to build/ with the Nest CLI, and bundles that.
//   node build.mjs               builds everything
//   node build.mjs --if-changed  builds only the parts that have changed since the last build
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleConsole } from './bundle-console.mjs';
import { bundleService } from './bundle-service.mjs';

/** File with the fingerprint of the sources of each part at its last build. */
const FINGERPRINTS = 'dist/fingerprints.json';
const SHARED = [
  'package-lock.json',
  'build.mjs',
  'bundle-console.mjs',
  'bundle-service.mjs',
  'externals.mjs',
];
const PARTS = [
  {
    name: 'service',
    sources: [...SHARED, 'src', 'package.json', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json'],
    run: buildService,
  },
  { name: 'console', sources: [...SHARED, 'console'], run: bundleConsole },
];

function buildService() {
  const { status } = spawnSync(process.execPath, ['node_modules/@nestjs/cli/bin/nest.js', 'build'], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
  return bundleService();
}

function* listFiles(path) {
  if (!statSync(path).isDirectory()) yield path;
  else for (const name of readdirSync(path).sort()) yield* listFiles(join(path, name));
}

function computeFingerprint(sources) {
  const hash = createHash('sha256');
  for (const path of sources.flatMap((source) => [...listFiles(source)])) {
    if (path.endsWith('generated.d.ts')) continue; // only types, which `npm run types` writes
    hash.update(`${path}\0`).update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}

const onlyChanged = process.argv.includes('--if-changed');
const isBuilt = onlyChanged && existsSync(FINGERPRINTS) && existsSync('build/main.js');
const built = isBuilt ? JSON.parse(readFileSync(FINGERPRINTS, 'utf8')) : {};
mkdirSync('dist', { recursive: true });
const changed = PARTS.filter(({ name, sources }) => built[name] !== computeFingerprint(sources));
if (changed.length === 0) console.log('The build is up to date.');
for (const { name, sources, run } of changed) {
  const started = performance.now();
  console.log(`Building the ${name} ...`);
  rmSync(FINGERPRINTS, { force: true }); // so that an interrupted build is repeated
  await run();
  built[name] = computeFingerprint(sources);
  console.log(`Built the ${name} in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
}
writeFileSync(FINGERPRINTS, JSON.stringify(built));
