import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { createApp } from './app.setup.js';
import { loadEnv } from './config/env.js';
import { FirstStart } from './setup/first-start.service.js';
import { welcome } from './setup/welcome.js';

async function main(): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const env = loadEnv();
  const app = await createApp(env);
  const first = await app.get(FirstStart).run();
  await app.listen(env.PORT, env.HOST);
  process.stdout.write(welcome(env, await app.getUrl(), first));
}

main().catch((error: unknown) => {
  process.stderr.write(`Rollcall cannot start. ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
