import { createApp } from './app.setup.js';
import type { Env } from './config/env.js';
import { FirstStart } from './setup/first-start.service.js';
import { welcome } from './setup/welcome.js';

/** The service as one process. @throws Error when it cannot start. */
export async function runAlone(env: Env): Promise<void> {
  const app = await createApp(env);
  await app.listen(env.PORT, env.HOST); // first, so that no credentials are made that are never shown
  const first = await app.get(FirstStart).run();
  process.stdout.write(welcome(await app.getUrl(), first));
}
