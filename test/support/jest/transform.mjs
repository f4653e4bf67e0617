// Loads the built service (build/) and the packages with Node.js: once for a worker, outside the sandbox that Jest
// creates for each file. Only tests and their helpers run inside the sandbox. Loading the application takes a second,
// and Node.js never frees a module that was loaded in a sandbox. The OpenAPI checks (contract.ts) are loaded in the
// same way, because they compile a validator for each kind of response.
import swc from '@swc/jest';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, sep } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const SOURCES = join(ROOT, 'src') + sep;
const CONTRACT = join(ROOT, 'test/support/app/contract.ts');
const PACKAGES = `${sep}node_modules${sep}`;
const NAME = /^[A-Za-z_$][\w$]*$/;

/** Returns the file that Node.js loads instead of a module, or undefined for a module of the tests. */
function findNative(path) {
  if (path.includes(PACKAGES) || path === CONTRACT) return path;
  if (path.startsWith(SOURCES) && path.endsWith('.ts'))
    return join(ROOT, 'build', relative(SOURCES, path)).replace(/ts$/, 'js');
  return undefined;
}

/** Returns the source of a module that exports what Node.js loads from a file. */
function present(file, isModule) {
  const names = Object.keys(createRequire(file)(file)).filter((name) => NAME.test(name));
  const loaded = `loadNative(${JSON.stringify(file)})`; // a global from environment.mjs
  const others = names.filter((name) => name !== 'default');
  // A CommonJS importer needs the object itself. The second line lists the exports for ES modules (cjs-module-lexer).
  if (!isModule) return `module.exports = ${loaded};\n0 && (module.exports = { ${others.join(', ')} });\n`;
  const lines = others.map((name, at) => `const e${at} = loaded.${name};\nexport { e${at} as ${name} };`);
  if (names.includes('default')) lines.push('export default loaded.default;');
  return [`const loaded = ${loaded};`, ...lines, ''].join('\n');
}

export default {
  createTransformer(options) {
    const typescript = swc.createTransformer(options);
    const process = (source, path, jest) => {
      const file = findNative(path);
      if (file && !jest.supportsDynamicImport) return { code: source }; // Jest loads its own code, outside a sandbox
      return file ? { code: present(file, jest.supportsStaticESM) } : typescript.process(source, path, jest);
    };
    return {
      process,
      processAsync: (source, path, jest) =>
        Promise.resolve(process(source, path, { ...jest, supportsStaticESM: true })),
      getCacheKey(source, path, jest) {
        const file = findNative(path);
        if (!file) return typescript.getCacheKey(source, path, jest);
        return createHash('sha1')
          .update(readFileSync(import.meta.filename))
          .update(`${file}\0${jest.supportsStaticESM}\0${jest.supportsDynamicImport}\0`)
          .update(readFileSync(file))
          .digest('hex');
      },
    };
  },
};
