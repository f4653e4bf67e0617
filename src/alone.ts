import { createApp } from './app.setup.js';
import type { Env } from './config/env.js';
import { serve } from './setup/serve.js';
import { welcome } from './setup/welcome.js';

/** The service as one process. @throws Error when it cannot start. */
export async function runAlone(env: Env): Promise<void> {
  const app = await createApp(env);
  const first = await serve(app, app.listen(env.PORT, env.HOST));
  process.stdout.write(welcome(await app.getUrl(), first));
}
