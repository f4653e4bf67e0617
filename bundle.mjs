// The second half of `npm run build`: bundles the compiler's output (build/) with its packages into one file per program.
// Otherwise Node would read some 2,000 files, which takes half of the time to the first answer.
import { build } from 'esbuild';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
const { outputFiles } = await build({
  write: false,
  entryPoints: ['main', 'cli', 'import-lane', 'reader-lane'].map((name) => `build/${name}.js`),
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true, // for `node --enable-source-maps`
  sourcesContent: false,
  external: [
    ...['libsql', '@node-rs/argon2'], // machine code
    'swagger-ui-dist', // it reads the files of Swagger UI beside itself
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
mkdirSync('dist');
for (const { path, text } of outputFiles) {
  const isProgram = path.endsWith('.js');
  writeFileSync(path, isProgram ? escaped(text) : text, { mode: isProgram ? 0o755 : 0o644 });
}
