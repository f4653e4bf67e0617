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
  [{ BASE_URL: 'https://people.example.org' }, 'null', 'refused'],
])('with the settings %j, a PUT from the origin %s is %s', (variables, origin, verdict) => {
  expect(isAccepted(variables, origin)).toBe(verdict === 'accepted');
});
