// Bundles build/ with its packages into dist/, one file per program. Otherwise Node would read some 2,000 files, which takes
// half of the time to the first answer.
import { build } from 'esbuild';
import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { EXTERNALS } from './externals.mjs';

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

/** Writes the programs of the service, as build/ has them now. */
export async function bundleService() {
  const built = [
    await bundle(['rollcall']),
    await bundle(['cli', 'migrator']),
    await bundle(['main', 'import-worker', 'read-worker'], [tablesOnly]),
  ];
  const programs = readdirSync('dist').filter((name) => /\.m?js(\.map)?$/.test(name));
  for (const name of programs) rmSync(`dist/${name}`);
  for (const { path, text } of built.flatMap(({ outputFiles }) => outputFiles)) {
    const isProgram = path.endsWith('.js');
    writeFileSync(path, isProgram ? escaped(text) : text, { mode: isProgram ? 0o755 : 0o644 });
  }
  copyFileSync('src/docs-script.mjs', 'dist/docs-script.mjs');
}
