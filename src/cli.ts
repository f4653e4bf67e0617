#!/usr/bin/env node
import 'reflect-metadata';
import { AppModule } from './app.module.js';
import { runCommandLine } from './cli/program.js';
import { ENTITIES } from './entities.js';

void runCommandLine({ module: (env) => AppModule.with(env), entities: ENTITIES }, process.argv.slice(2));
