// The second half of `npm run build`: what the compiler made of src/ (build/), with the packages that it uses, as one
// file each. Node would find and read some 2,000 files otherwise: half of the time to the first answer.
import { build } from 'esbuild';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
const { outputFiles } = await build({
  write: false,
  entryPoints: ['build/main.js', 'build/cli.js'],
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true, // for `node --enable-source-maps`
  sourcesContent: false,
  external: [
    ...['libsql', '@node-rs/argon2'], // machine code
    'swagger-ui-dist', // the files of Swagger UI are found beside it
    // What Nest would load, were it installed.
    ...['@fastify/*', '@nestjs/microservices', '@nestjs/websockets'],
  ],
  banner: {
    // Packages in CommonJS ask for these.
    js: [
      "import { createRequire as requireOf } from 'node:module';",
      'const require = requireOf(import.meta.url);',
      'const { dirname: __dirname, filename: __filename } = import.meta;',
    ].join('\n'),
  },
  logLevel: 'warning',
});

// Beyond Latin characters, some regular expressions of packages, would make V8 keep the whole text in two bytes a character.
const escaped = (text) =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
mkdirSync('dist');
for (const { path, text } of outputFiles) {
  const isProgram = path.endsWith('.js');
  writeFileSync(path, isProgram ? escaped(text) : text, { mode: isProgram ? 0o755 : 0o644 });
}
