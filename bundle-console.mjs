// Bundles the console (console/) into dist/console: a script, a style sheet and a page that loads both. Each file is
// also compressed. File names contain a hash of the content, so that browsers can cache the files without limit.
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
  const findName = (start) => basename(outputFiles.find(({ path }) => basename(path).startsWith(start)).path);
  const page = readFileSync('console/index.html', 'utf8').replace(
    /%(app|style|icon)%/g,
    (_, name) => `/console/assets/${findName(`${name}-`)}`,
  );
  rmSync(OUT, { recursive: true, force: true });
  for (const { path, contents } of outputFiles) store(path, contents);
  store(`${OUT}/index.html`, Buffer.from(page));
}

/** Writes a file and its compressed forms. */
function store(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
  writeFileSync(`${path}.gz`, gzipSync(contents, { level: 9 }));
  const size = { [constants.BROTLI_PARAM_SIZE_HINT]: contents.length };
  writeFileSync(`${path}.br`, brotliCompressSync(contents, { params: size }));
}
