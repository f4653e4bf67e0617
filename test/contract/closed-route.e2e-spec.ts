import { Controller, Get } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { NextFunction, Request, Response } from 'express';
import { Public, Requires } from '../../src/access/decorators.js';
import { AppModule } from '../../src/app.module.js';
import { Log } from '../../src/platform/telemetry/log.js';
import { observeRequests } from '../../src/platform/telemetry/observe.js';
import { loadEnv } from '../../src/platform/config/env.js';
import { ADMIN_PASSWORD, API_KEY } from '../support/app/app.js';
import { Client } from '../support/app/client.js';
import { type TestDatabase, createDatabase } from '../support/app/database.js';
import { problemOf } from '../support/app/people.js';

@Controller('probe')
class ProbeController {
  @Get('forgotten')
  forgotten(): object {
    return { open: true };
  }

  @Get('public')
  @Public()
  public(): object {
    return { open: true };
  }

  @Get('members')
  @Requires('users.read')
  members(): object {
    return { open: true };
  }
}

let app: NestExpressApplication;
let database: TestDatabase;
let nobody: Client;

beforeAll(async () => {
  database = await createDatabase('first-start');
  const env = loadEnv({ DATABASE_URL: database.url, DATA_DIR: database.folder, LOG_LEVEL: 'silent' });
  const withProbe = { module: AppModule, imports: [AppModule.forRoot(env)], controllers: [ProbeController] };
  app = await NestFactory.create<NestExpressApplication>(withProbe, { bodyParser: false, logger: false });
  const prepare = observeRequests(app.get(Log));
  app.use((request: Request, response: Response, next: NextFunction) => {
    prepare(request, response);
    next();
  });
  app.setGlobalPrefix('api/0.3');
  await app.listen(0, '127.0.0.1');
  nobody = new Client(await app.getUrl());
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

test('a route without an access decorator rejects every caller', async () => {
  const login = await nobody.post('/sessions/login', { username: 'admin', password: ADMIN_PASSWORD });
  expect(problemOf(await nobody.get('/probe/forgotten'))).toEqual([401, 'unauthenticated']);
  expect(problemOf(await nobody.get('/probe/forgotten', { 'x-api-key': API_KEY }))).toEqual([
    403,
    'forbidden',
  ]);
  expect(problemOf(await nobody.get('/probe/forgotten', { cookie: login.cookie }))).toEqual([
    403,
    'forbidden',
  ]);
});

test('@Requires opens a route only to callers with the permission', async () => {
  expect((await nobody.get('/probe/public')).body).toEqual({ open: true });
  expect(problemOf(await nobody.get('/probe/members'))).toEqual([401, 'unauthenticated']);
  expect((await nobody.get('/probe/members', { 'x-api-key': API_KEY })).body).toEqual({ open: true });
});
