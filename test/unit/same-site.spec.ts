import { expect, test } from '@jest/globals';
import { SameSite } from '../../src/auth/access.guard.js';
import { loadEnv } from '../../src/platform/config/env.js';

/** Returns true if a change with a cookie from a page of the origin is accepted. */
function isAccepted(variables: Record<string, string>, origin: string): boolean {
  const site = new SameSite(loadEnv(variables));
  try {
    site.assertSameSite({ method: 'PUT', headers: { origin } } as Parameters<SameSite['assertSameSite']>[0]);
    return true;
  } catch {
    return false;
  }
}

test.each<[Record<string, string>, string, boolean]>([
  [{}, 'http://127.0.0.1:3000', true],
  [{}, 'http://localhost:3000', true],
  [{}, 'http://[::1]:3000', true],
  [{}, 'http://localhost:3001', false],
  [{}, 'https://localhost:3000', false],
  [{}, 'http://rebound.example:3000', false],
  [{ BASE_URL: 'http://localhost:8080/x' }, 'http://127.0.0.1:8080', true],
  [{ BASE_URL: 'https://people.example.org' }, 'https://people.example.org', true],
  [{ BASE_URL: 'https://people.example.org:443/' }, 'https://people.example.org', true],
  [{ BASE_URL: 'https://people.example.org' }, 'http://people.example.org', false],
  [{ BASE_URL: 'https://people.example.org' }, 'https://localhost', false],
  [{ BASE_URL: 'https://people.example.org' }, 'https://people.example.org.evil.example', false],
  [{ BASE_URL: 'https://people.example.org' }, 'null', false],
])('with the settings %j, a PUT from the origin %s is accepted: %s', (variables, origin, expected) => {
  expect(isAccepted(variables, origin)).toBe(expected);
});
