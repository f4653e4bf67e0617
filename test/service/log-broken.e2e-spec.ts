import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { API_KEY } from '../support/app/app.js';
import { Client } from '../support/app/client.js';
import { ROOT, envOf, setUpDatabase, occupyPort } from '../support/process/process.js';

/** Kinds of standard output and standard error that do not accept log lines. */
const OUTPUTS = ['a full disk', 'a closed pipe', 'an unread pipe'];
const database = setUpDatabase('tables');

test.each(OUTPUTS)('the service continues to run if its standard output is %s', async (kind) => {
  const { port, release } = await occupyPort();
  await release();
  const output = kind === 'a full disk' ? openSync('/dev/full', 'w') : 'pipe';
  const env = {
    ...envOf(database),
    PORT: String(port),
    BOOTSTRAP_API_KEY: API_KEY,
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['TEST_COMPILE_CACHE'],
  };
  const child = spawn(process.execPath, [`${ROOT}dist/main.js`], { env, stdio: ['ignore', output, output] });
  try {
    if (kind === 'a closed pipe') for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    const client = new Client(`http://127.0.0.1:${port}`, { 'x-api-key': API_KEY });
    while (!(await client.get('/status').catch(() => undefined))) {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
      await delay(50);
    }
    // More log lines than fit into a pipe (64 KiB).
    for (let sent = 0; sent < 300; sent++) {
      expect((await client.fetch('GET', `/api/0.3/nowhere/${'x'.repeat(200)}`)).status).toBe(404);
    }
    expect((await client.get('/status')).status).toBe(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});
