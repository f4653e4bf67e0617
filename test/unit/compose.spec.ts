import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { ROOT } from '../support/process/process.js';
import { blocksOf } from '../support/process/guide/blocks.js';

/** The compose files as a container engine reads them, beside the settings and the guide that they need. */
interface Service {
  command?: string[];
  secrets?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  networks?: string[];
  ports?: string[];
  depends_on?: Record<string, object>;
}
interface Compose {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  volumes?: Record<string, object | null>;
  networks?: Record<string, object | null>;
}

const read = (file: string): string => readFileSync(`${ROOT}${file}`, 'utf8');
const compose = (file: string): Compose => parse(read(`deploy/${file}`), { merge: true }) as Compose;
const settings = new Set(
  [...read('.env.example').matchAll(/^#? ?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name),
);
/** Files of the secrets that the commands of the guide make. */
const made = (): string[] =>
  blocksOf('docs/deployment.md')
    .filter(({ kind, text }) => kind === 'sh' && text.includes('deploy/secrets'))
    .flatMap(({ text }) =>
      [...text.matchAll(/\b(database_\w+(?:\.pem)?|rollcall\.env)\b/g)].map(([, name = '']) => name),
    );

describe.each([['compose.yaml'], ['compose.yaml', 'compose.tls.yaml']])('%s %s', (...files) => {
  const parts = files.map(compose);
  const secrets = Object.assign({}, ...parts.map((part) => part.secrets)) as Compose['secrets'];
  const services = parts.flatMap((part) => Object.entries(part.services));

  test('each secret that a service uses is declared, and the guide makes its file', () => {
    for (const [name, { secrets: used = [] }] of services)
      for (const secret of used) expect([name, secret, secret in secrets]).toEqual([name, secret, true]);
    for (const { file } of Object.values(secrets)) expect(made()).toContain(file.replace('./secrets/', ''));
  });

  test('each path below /run/secrets is that of a secret of the same service', () => {
    for (const [name] of services) {
      const all = services.filter(([other]) => other === name).map(([, service]) => service);
      const used = new Set(all.flatMap((service) => service.secrets ?? []));
      const named = [...JSON.stringify(all).matchAll(/\/run\/secrets\/([\w.]+)/g)].map(
        ([, file = '']) => file,
      );
      expect(named.filter((file) => !used.has(file))).toEqual([]);
    }
  });

  test('volumes, networks and services that are named exist', () => {
    const [base] = parts as [Compose];
    for (const [, { volumes = [], networks = [], depends_on: needs = {} }] of services) {
      for (const volume of volumes) expect(Object.keys(base.volumes ?? {})).toContain(volume.split(':')[0]);
      for (const network of networks) expect(Object.keys(base.networks ?? {})).toContain(network);
      for (const need of Object.keys(needs)) expect(Object.keys(base.services)).toContain(need);
    }
  });

  test('every variable of the service is a setting', () => {
    for (const [name, { environment = {} }] of services)
      if (name !== 'database')
        for (const variable of Object.keys(environment)) expect(settings).toContain(variable);
  });
});

test('the service is reachable from this machine alone, and the database from the service alone', () => {
  const { services, networks } = compose('compose.yaml');
  expect(services['rollcall']?.ports).toEqual(['127.0.0.1:3000:3000']);
  expect(services['database']?.ports).toBeUndefined();
  expect(services['database']?.networks).toEqual(['inside']);
  expect(networks?.['inside']).toEqual({ internal: true });
});

test('every setting that a file of settings in the guide has is one', () => {
  const blocks = blocksOf('docs/deployment.md').filter(({ text }) =>
    /rollcall\.env <<|>> \S*rollcall\.env/.test(text),
  );
  const named = blocks.flatMap(({ text }) =>
    [...text.matchAll(/^(?:echo ')?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name),
  );
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !settings.has(name))).toEqual([]);
});
