#!/usr/bin/env node
import 'reflect-metadata';
import { Application } from './cli/application.js';
import { runCommandLine } from './cli/program.js';
import { ENTITIES } from './entities.js';

const application = new Application(ENTITIES, async (env, lock) => {
  const { createApp } = await import('./create-app.js'); // load these modules only if no service is running
  return createApp(env, { lock, isService: false });
});
void runCommandLine(application, process.argv.slice(2));
