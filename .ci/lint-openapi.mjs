import spectral from '@stoplight/spectral-core';
import { readFileSync } from 'node:fs';
import ruleset from '../.spectral.mjs';

/** The rules of `.spectral.mjs` on the OpenAPI file; Spectral's command line would need a third more packages. */
const linter = new spectral.Spectral();
linter.setRuleset(ruleset);
const found = await linter.run(JSON.parse(readFileSync('docs/openapi.json', 'utf8')));
for (const { code, path, message } of found) console.log(`${path.join('/')}: ${message} (${code})`);
console.log(`docs/openapi.json: ${found.length} faults by the rules of OWASP`);
process.exitCode = found.length > 0 ? 1 : 0;
