// Bundles build/ with its packages into dist/, one file per program. Without bundles Node.js would read about 2,000
// files, which takes half of the time to the first response.
import { build } from 'esbuild';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { EXTERNALS } from './externals.mjs';

/**
 * The part of TypeORM that the service and the worker processes need to describe tables. The complete package would
 * take 15 MiB of memory in each process. Only `migrator` and `cli` contain it.
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
    // A process holds the text of its program in memory, so indentation is removed. Names are unchanged.
    minifyWhitespace: true,
    lineLimit: 120, // stack traces contain useful line numbers
    sourcemap: true, // for `node --enable-source-maps`
    sourcesContent: false,
    plugins,
    external: [
      ...EXTERNALS,
      // Nest loads these packages only if they are installed.
      ...['@fastify/*', '@nestjs/microservices', '@nestjs/websockets'],
    ],
    banner: {
      js: [
        // Without a listener, Node.js would open an inspector on SIGUSR1.
        "process.on('SIGUSR1', () => undefined);",
        // Variables that CommonJS packages use.
        "import { createRequire as requireOf } from 'node:module';",
        'const require = requireOf(import.meta.url);',
        'const { dirname: __dirname, filename: __filename } = import.meta;',
      ].join('\n'),
    },
    logLevel: 'warning',
  });

// Regular expressions of some packages contain characters outside Latin-1, for which V8 would store the whole text with
// two bytes per character.
const escapeText = (text) =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Bundles the programs of the service from the current content of build/. */
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
    writeFileSync(path, isProgram ? escapeText(text) : text, { mode: isProgram ? 0o755 : 0o644 });
  }
}
