import { expect, jest, test } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Log } from '../../src/platform/telemetry/log.js';
import { setUpApp } from '../support/app/app.js';
import { Client, agent } from '../support/app/client.js';
import { RawConnection } from '../support/app/raw.js';

const app = setUpApp({ MAX_CONNECTIONS: '10' });

test('new connections beyond MAX_CONNECTIONS are closed at once', async () => {
  agent.destroy();
  const warnings = jest.spyOn(app.app.get(Log), 'warn');
  const connections = await Promise.all(Array.from({ length: 10 }, () => RawConnection.open(app.url)));
  for (let more = 0; more < 2; more++) {
    const refused = await RawConnection.openWithRequest(app.url, 'GET /api/0.3/status', {});
    expect(await refused.ended).toBe('');
  }
  expect(warnings.mock.calls).toEqual([['connections refused', { limit: 10, refused: 1 }]]);
  const [first, ...others] = connections;
  first?.socket.destroy();
  const server = app.app.getHttpServer();
  while ((await promisify(server.getConnections.bind(server))()) === 10) await setImmediate();
  const nobody = new Client(app.url, { connection: 'close' });
  expect((await nobody.get('/status')).status).toBe(200);
  const { text } = await nobody.fetch('GET', '/metrics');
  expect(text).toMatch(/^rollcall_connections_refused 2$/m);
  expect(text).toMatch(/^rollcall_connections 10$/m);
  for (const { socket } of others) socket.destroy();
});
