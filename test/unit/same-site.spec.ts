import { expect, test } from '@jest/globals';
import { SameSite } from '../../src/auth/access.guard.js';
import { loadEnv } from '../../src/platform/config/env.js';

/** Returns true if a change with a cookie from a page of the origin is accepted over HTTP. */
function isAccepted(
  variables: Record<string, string>,
  origin: string,
  host = URL.parse(origin)?.host,
): boolean {
  const site = new SameSite(loadEnv(variables));
  const request = { method: 'PUT', headers: { origin }, protocol: 'http', host };
  try {
    site.assertSameSite(request as Parameters<SameSite['assertSameSite']>[0]);
    return true;
  } catch {
    return false;
  }
}

test.each<[Record<string, string>, string, 'accepted' | 'refused']>([
  [{}, 'http://127.0.0.1:3000', 'accepted'],
  [{}, 'http://localhost:3000', 'accepted'],
  [{}, 'http://[::1]:3000', 'accepted'],
  [{}, 'http://localhost:3001', 'refused'],
  [{}, 'https://localhost:3000', 'refused'],
  [{}, 'http://rebound.example:3000', 'refused'],
  [{ BASE_URL: 'http://localhost:8080/x' }, 'http://127.0.0.1:8080', 'accepted'],
  [{ BASE_URL: 'https://people.example.org' }, 'https://people.example.org', 'accepted'],
  [{ BASE_URL: 'https://people.example.org:443/' }, 'https://people.example.org', 'accepted'],
  [{ BASE_URL: 'https://people.example.org' }, 'http://people.example.org', 'refused'],
  [{ BASE_URL: 'https://people.example.org' }, 'https://localhost', 'refused'],
  [{ BASE_URL: 'https://people.example.org' }, 'https://people.example.org.evil.example', 'refused'],
  [{ HOST: '192.0.2.7' }, 'http://intranet:3000', 'accepted'],
  [{ HOST: '::1' }, 'http://rebound.example:3000', 'refused'],
  [{ HOST: '0.0.0.0', BASE_URL: 'http://intranet' }, 'http://192.0.2.7', 'refused'],
])('with the settings %j, a PUT from the origin %s is %s', (variables, origin, verdict) => {
  expect(isAccepted(variables, origin)).toBe(verdict === 'accepted');
});

test.each([
  ['http://192.0.2.7:3000', '192.0.2.7:3000', true],
  ['http://intranet', 'Intranet:80', true],
  ['http://[2001:db8::7]:3000', '[2001:DB8::7]:3000', true],
  ['http://192.0.2.7:3000', '192.0.2.8:3000', false],
  ['http://192.0.2.7:3001', '192.0.2.7:3000', false],
  ['http://evil.example', 'evil.example@192.0.2.7', false],
  ['null', '', false],
])('with HOST=0.0.0.0, a PUT from the origin %s to the host %s is accepted: %s', (origin, host, accepted) => {
  for (const HOST of ['0.0.0.0', '::']) expect(isAccepted({ HOST }, origin, host)).toBe(accepted);
});
