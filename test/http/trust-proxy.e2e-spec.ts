import { expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';

/** Failed logins of one name from three addresses that `X-Forwarded-For` claims; two are allowed for each. */
async function guesses(settings: Record<string, string>): Promise<number[]> {
  const app = await TestApp.start({ LOGIN_FAILURES_PER_NAME: '2', ...settings });
  try {
    const statuses: number[] = [];
    for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.1']) {
      const body = { username: 'admin', password: 'wrong password' };
      const answer = await app.nobody.post('/sessions/login', body, { 'x-forwarded-for': address });
      statuses.push(answer.status);
    }
    return statuses;
  } finally {
    await app.end();
  }
}

test('an address in X-Forwarded-For is not believed unless a proxy is named', async () => {
  expect(await guesses({})).toEqual([401, 401, 429, 429, 429]);
  expect(await guesses({ TRUST_PROXY: '198.51.100.7' })).toEqual([401, 401, 429, 429, 429]);
});

test.each(['1', 'loopback', '127.0.0.0/8'])(
  'behind the proxy TRUST_PROXY=%s each client counts for itself',
  async (proxy) => {
    expect(await guesses({ TRUST_PROXY: proxy })).toEqual([401, 401, 401, 401, 429]);
  },
);

test.each([{}, { TRUST_PROXY: '1' }])(
  'with %j a request whose connection is gone has no address',
  async (settings) => {
    const app = await TestApp.start(settings);
    try {
      const { request } = app.app.getHttpAdapter().getInstance() as { request: object };
      const gone = Object.assign(Object.create(request) as object, { socket: null, headers: {} });
      expect(Reflect.get(gone, 'ip')).toBeUndefined();
    } finally {
      await app.end();
    }
  },
);
