// Writes the packages that are installed with the service as a CycloneDX file (SBOM).
//   node .ci/sbom.mjs <file>
// `npm sbom --omit=dev` omits packages that development also needs, such as commander and tslib (npm 11.19). Therefore
// this script takes the complete list and removes the packages that the lock file marks as `dev`, and the Node.js of a
// clone, which is not shipped.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const [, , file] = process.argv;
const printed = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const bom = JSON.parse(printed);

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const installed = new Set(
  Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && !dev && !/^node_modules\/node-linux-/.test(path))
    .map(([path, { name, version }]) => `${name ?? path.replace(/^.*node_modules\//, '')}@${version}`),
);
bom.components = bom.components.filter(({ name, version }) => installed.has(`${name}@${version}`));
const refs = new Set([bom.metadata.component, ...bom.components].map((component) => component['bom-ref']));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => refs.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));

mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, JSON.stringify(bom, null, 2));
console.log(`${file}: ${bom.components.length} packages`);
