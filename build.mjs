// Builds the service and the console into dist/: compiles src/ to build/ with the Nest CLI, and bundles that with its packages
// into one file per program. Otherwise Node would read some 2,000 files, which takes half of the time to the first answer.
//   node build.mjs               builds everything
//   node build.mjs --if-changed  builds only what has changed since the last build, and says so
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { bundleConsole } from './bundle-console.mjs';
import { EXTERNALS } from './externals.mjs';

/** The fingerprint of the sources of each part at its last build. */
const FINGERPRINTS = 'dist/fingerprints.json';
const SHARED = ['package-lock.json', 'build.mjs', 'bundle-console.mjs', 'externals.mjs'];
const PARTS = [
  {
    name: 'service',
    sources: [...SHARED, 'src', 'package.json', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json'],
    run: buildService,
  },
  { name: 'console', sources: [...SHARED, 'console'], run: bundleConsole },
];

/**
 * What the service and the import process need of TypeORM: they describe tables, and neither make nor read them. The package
 * as a whole would take 15 MiB of each; `migrator` and `cli` have it.
 */
const tablesOnly = {
  name: 'tables-only',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^typeorm$/ }, () => ({ path: 'typeorm', namespace: 'tables-only' }));
    onLoad({ filter: /.*/, namespace: 'tables-only' }, () => ({
      resolveDir: import.meta.dirname,
      contents: `
        export { Column } from 'typeorm/decorator/columns/Column.js';
        export { PrimaryColumn } from 'typeorm/decorator/columns/PrimaryColumn.js';
        export { Entity } from 'typeorm/decorator/entity/Entity.js';
        export { Index } from 'typeorm/decorator/Index.js';
        export { getMetadataArgsStorage } from 'typeorm/globals.js';`,
    }));
  },
};

const bundle = (names, plugins = []) =>
  build({
    write: false,
    entryPoints: names.map((name) => `build/${name}.js`),
    outdir: 'dist',
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    // A process keeps the text of its program in memory: without indentation, and names as they are.
    minifyWhitespace: true,
    lineLimit: 120, // a stack names a line
    sourcemap: true, // for `node --enable-source-maps`
    sourcesContent: false,
    plugins,
    external: [
      ...EXTERNALS,
      // Nest would load these if they were installed.
      ...['@fastify/*', '@nestjs/microservices', '@nestjs/websockets'],
    ],
    banner: {
      // CommonJS packages use these.
      js: [
        "import { createRequire as requireOf } from 'node:module';",
        'const require = requireOf(import.meta.url);',
        'const { dirname: __dirname, filename: __filename } = import.meta;',
      ].join('\n'),
    },
    logLevel: 'warning',
  });

// Regular expressions of some packages contain characters beyond Latin-1, and V8 would store the whole text in two bytes per character.
const escaped = (text) =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

async function buildService() {
  const { status } = spawnSync(process.execPath, ['node_modules/@nestjs/cli/bin/nest.js', 'build'], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
  const built = [
    await bundle(['rollcall']),
    await bundle(['cli', 'migrator']),
    await bundle(['main', 'import-lane', 'reader-lane'], [tablesOnly]),
  ];
  const programs = readdirSync('dist').filter((name) => /\.m?js(\.map)?$/.test(name));
  for (const name of programs) rmSync(`dist/${name}`);
  for (const { path, text } of built.flatMap(({ outputFiles }) => outputFiles)) {
    const isProgram = path.endsWith('.js');
    writeFileSync(path, isProgram ? escaped(text) : text, { mode: isProgram ? 0o755 : 0o644 });
  }
  copyFileSync('src/docs-script.mjs', 'dist/docs-script.mjs');
}

/** Copies the guides that the service shows. */
async function copyGuides() {
  rmSync('dist/guides', { recursive: true, force: true });
  for (const name of Object.keys((await import('./build/status/guides.js')).GUIDES))
    cpSync(`docs/${name}.md`, `dist/guides/${name}.md`);
}

function* filesOf(path) {
  if (!statSync(path).isDirectory()) yield path;
  else for (const name of readdirSync(path).sort()) yield* filesOf(join(path, name));
}

function fingerprintOf(sources) {
  const hash = createHash('sha256');
  for (const path of sources.flatMap((source) => [...filesOf(source)])) {
    if (path.endsWith('generated.d.ts')) continue; // types alone, which `npm run types` writes
    hash.update(`${path}\0`).update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}

const onlyChanged = process.argv.includes('--if-changed');
const isBuilt = onlyChanged && existsSync(FINGERPRINTS) && existsSync('build/main.js');
const built = isBuilt ? JSON.parse(readFileSync(FINGERPRINTS, 'utf8')) : {};
mkdirSync('dist', { recursive: true });
const changed = PARTS.filter(({ name, sources }) => built[name] !== fingerprintOf(sources));
if (changed.length === 0) console.log('The build is up to date.');
for (const { name, sources, run } of changed) {
  const started = performance.now();
  console.log(`Building the ${name} ...`);
  rmSync(FINGERPRINTS, { force: true }); // an interrupted build is repeated
  await run();
  built[name] = fingerprintOf(sources);
  console.log(`Built the ${name} in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
}
await copyGuides();
writeFileSync(FINGERPRINTS, JSON.stringify(built));
