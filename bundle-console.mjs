// Bundles the console (console/) into dist/console: one script, one style sheet and a page that loads both, each also compressed.
// Names of files carry a hash of their content, so that a browser may keep them for ever.
import { build } from 'esbuild';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const OUT = 'dist/console';

export async function bundleConsole() {
  const { outputFiles } = await build({
    write: false,
    entryPoints: { app: 'console/main.tsx', style: 'console/style/style.css', icon: 'console/icon.svg' },
    outdir: `${OUT}/assets`,
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2022', 'chrome123', 'firefox128', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: 'console/tsconfig.json',
    loader: { '.svg': 'copy' },
    logLevel: 'warning',
  });
  const named = (start) => basename(outputFiles.find(({ path }) => basename(path).startsWith(start)).path);
  const page = readFileSync('console/index.html', 'utf8').replace(
    /%(app|style|icon)%/g,
    (_, name) => `/console/assets/${named(`${name}-`)}`,
  );
  rmSync(OUT, { recursive: true, force: true });
  for (const { path, contents } of outputFiles) store(path, contents);
  store(`${OUT}/index.html`, Buffer.from(page));
}

/** Writes a file, and beside it what browsers take instead. */
function store(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
  writeFileSync(`${path}.gz`, gzipSync(contents, { level: 9 }));
  const size = { [constants.BROTLI_PARAM_SIZE_HINT]: contents.length };
  writeFileSync(`${path}.br`, brotliCompressSync(contents, { params: size }));
}
