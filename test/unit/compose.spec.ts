import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { ROOT } from '../support/process/process.js';
import { readBlocks } from '../support/process/guide/blocks.js';

/** A service of a compose file. */
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
const readCompose = (file: string): Compose => parse(read(`deploy/${file}`), { merge: true }) as Compose;
const settings = new Set(
  [...read('.env.example').matchAll(/^#? ?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name),
);
/** Returns the names of the secret files that the commands of the guide create. */
const readGuideSecrets = (): string[] =>
  readBlocks('docs/deployment.md')
    .filter(({ kind, text }) => kind === 'sh' && text.includes('deploy/secrets'))
    .flatMap(({ text }) =>
      [...text.matchAll(/\b(database_\w+(?:\.pem)?|rollcall\.env)\b/g)].map(([, name = '']) => name),
    );

describe.each([[['compose.yaml']], [['compose.yaml', 'compose.tls.yaml']]])('the files %j', (files) => {
  const parts = files.map(readCompose);
  const secrets = Object.assign({}, ...parts.map((part) => part.secrets)) as Compose['secrets'];
  const services = parts.flatMap((part) => Object.entries(part.services));

  test('declare every secret of their services', () => {
    for (const [name, { secrets: used = [] }] of services)
      for (const secret of used) expect([name, secret, secret in secrets]).toEqual([name, secret, true]);
    for (const { file } of Object.values(secrets))
      expect(readGuideSecrets()).toContain(file.replace('./secrets/', ''));
  });

  test('use a path under /run/secrets only for declared secrets', () => {
    for (const [name] of services) {
      const all = services.filter(([other]) => other === name).map(([, service]) => service);
      const used = new Set(all.flatMap((service) => service.secrets ?? []));
      const named = [...JSON.stringify(all).matchAll(/\/run\/secrets\/([\w.]+)/g)].map(
        ([, file = '']) => file,
      );
      expect(named.filter((file) => !used.has(file))).toEqual([]);
    }
  });

  test('declare every used volume, network and service', () => {
    const [base] = parts as [Compose];
    for (const [, { volumes = [], networks = [], depends_on: needs = {} }] of services) {
      for (const volume of volumes) expect(Object.keys(base.volumes ?? {})).toContain(volume.split(':')[0]);
      for (const network of networks) expect(Object.keys(base.networks ?? {})).toContain(network);
      for (const need of Object.keys(needs)) expect(Object.keys(base.services)).toContain(need);
    }
  });

  test('set only environment variables that are settings of Rollcall', () => {
    for (const [name, { environment = {} }] of services)
      if (name !== 'database')
        for (const variable of Object.keys(environment)) expect(settings).toContain(variable);
  });
});

test('compose.yaml exposes no port to other machines', () => {
  const { services, networks } = readCompose('compose.yaml');
  expect(services['rollcall']?.ports).toEqual(['127.0.0.1:3000:3000']);
  expect(services['database']?.ports).toBeUndefined();
  expect(services['database']?.networks).toEqual(['inside']);
  expect(networks?.['inside']).toEqual({ internal: true });
});

test('the settings files in the deployment guide contain only existing settings', () => {
  const blocks = readBlocks('docs/deployment.md').filter(({ text }) =>
    /rollcall\.env <<|>> \S*rollcall\.env/.test(text),
  );
  const named = blocks.flatMap(({ text }) =>
    [...text.matchAll(/^(?:echo ')?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name),
  );
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !settings.has(name))).toEqual([]);
});
