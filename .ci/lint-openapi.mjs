import spectral from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';
import { readFileSync } from 'node:fs';

/**
 * Checks the OpenAPI file against the OWASP rules. Rules that this service cannot follow are listed here as narrow
 * exceptions with a reason. An exception that is no longer needed counts as a fault. This uses Spectral as a library,
 * because its command line needs a third more packages. redocly.yaml configures the check against the specification.
 */
const EXCEPTIONS = [
  {
    rule: 'owasp:api4:2023-string-restricted',
    where: /./,
    because: 'names, sentences and sort keys are free text in any script, bounded by their length',
  },
  {
    rule: 'owasp:api4:2023-string-limit',
    where:
      /^paths\/[^ ]*\/(template\.csv|failed\.csv|export\.csv|audit\.csv|metrics)\/get\/responses\/200\/content/,
    because: 'a file is sent while it is generated, so its length is not known in advance',
  },
  {
    rule: 'owasp:api3:2023-no-additionalProperties',
    where: /./,
    because:
      'maps have keys that the installation chooses (authname, columns of a profile), SCIM ignores unknown keys',
  },
  {
    rule: 'owasp:api8:2023-define-cors-origin',
    where: /./,
    because: 'pages of other origins may not use the API, so no response has a CORS header',
  },
  {
    rule: 'owasp:api8:2023-define-error-responses-401',
    where: /^paths\/(\/api\/0\.3\/status|\/health\/live|\/health\/ready)\/get\/responses/,
    because: 'status and probes need no credentials',
  },
  {
    rule: 'owasp:api9:2023-inventory-access',
    where: /^servers\/0/,
    because: 'the same file is used in every installation, on an intranet or not',
  },
  {
    rule: 'owasp:api9:2023-inventory-environment',
    where: /^servers\/0/,
    because: 'the same file is used in every installation, in production and in tests',
  },
];

const linter = new spectral.Spectral();
linter.setRuleset({ extends: [owasp] });
const found = await linter.run(JSON.parse(readFileSync('docs/openapi.json', 'utf8')));
const excepted = new Map(EXCEPTIONS.map((exception) => [exception, 0]));
const faults = [];
for (const { code, path, message } of found) {
  const position = path.join('/');
  const exception = EXCEPTIONS.find(({ rule, where }) => rule === code && where.test(position));
  if (exception) excepted.set(exception, (excepted.get(exception) ?? 0) + 1);
  else faults.push(`${position}: ${message} (${code})`);
}
for (const [{ rule, because }, count] of excepted) {
  if (count === 0) faults.push(`${rule}: the exception is no longer needed`);
  else console.log(`${rule}, ${count} times: ${because}`);
}
for (const fault of faults) console.log(fault);
console.log(`docs/openapi.json: ${faults.length} faults by the rules of OWASP`);
process.exitCode = faults.length > 0 ? 1 : 0;
