import 'reflect-metadata';
import { createApp } from './app.setup.js';
import { readSettings, runProgram } from './config/settings.js';
import { FirstStart } from './setup/first-start.service.js';
import { welcome } from './setup/welcome.js';

runProgram('Rollcall cannot start.', async () => {
  const env = readSettings();
  const app = await createApp(env);
  await app.listen(env.PORT, env.HOST); // first, so that no credentials are made that are never shown
  const first = await app.get(FirstStart).run();
  process.stdout.write(welcome(await app.getUrl(), first));
});
