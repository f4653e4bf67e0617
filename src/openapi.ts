import { type INestApplication, NotFoundException } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { readFileSync } from 'node:fs';
import { toPageDocument } from './docs-page.js';
import { VERSION } from './platform/common/version.js';
import { completeDocument, listOperations } from './platform/openapi/document.js';
import { REQUIRED_SCOPE, applyRouteDocs } from './platform/openapi/route-docs.js';
import { SessionCookie } from './sessions/session-cookie.js';

const COOKIE = 'The session cookie, which a login sets. Leave this empty: the browser sends the cookie.';
const FILE = new URL('../docs/openapi.json', import.meta.url);
const BEARER = { type: 'http', bearerFormat: 'opaque' } as const;

/** Creates the OpenAPI document from the decorators of the routes. `npm run openapi` writes it to `FILE`. */
export function createDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Rollcall')
    .setDescription(
      'Users of an intranet, kept in sync with an identity source. ' +
        `Version ${VERSION} of the service. ` +
        'Authorize with an API key, or call `POST /sessions/login` on this page. The browser then sends the session cookie.',
    )
    .setVersion('0.3')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'api_key')
    .addCookieAuth(
      app.get(SessionCookie).name,
      { type: 'apiKey', in: 'cookie', description: COOKIE },
      'session',
    )
    .addBearerAuth({ ...BEARER, description: 'The value of `METRICS_TOKEN`, if it is set.' }, 'metrics')
    .addBearerAuth({ ...BEARER, description: 'An API key, sent as a bearer token by SCIM clients.' }, 'scim')
    .addServer('/', 'The installation that serves this file.')
    .addTag('sessions', 'Logins and sessions of users.')
    .addTag('users', 'Create, read, search and change users.')
    .addTag('groups', 'Groups from identity providers, and the roles that their members get.')
    .addTag('imports', 'CSV files: compare them with the current users, check the plan, and apply it.')
    .addTag('api keys', 'Create and revoke the API keys of connectors, and reset their fuses.')
    .addTag('audit', 'The record of all changes.')
    .addTag('scim', 'SCIM 2.0: identity providers create, find, change and delete users and groups.')
    .addTag('status', 'Status of the service.')
    .build();
  applyRouteDocs();
  const document = SwaggerModule.createDocument(app, config);
  completeDocument(document);
  for (const operation of listOperations(document)) {
    const { operationId, description, [REQUIRED_SCOPE]: scope } = operation;
    // Without `@DescribeRoute`, Swagger generates an id, which contains `_`.
    if (operationId.includes('_')) throw new Error(`${operationId} lacks @DescribeRoute`);
    const note =
      SCOPE_NOTES[operationId] ?? SCOPE_NOTES[scope ?? ''] ?? `An API key needs the scope \`${scope}\`.`;
    if (scope !== undefined) operation.description = [description, note].filter(Boolean).join('\n\n');
  }
  return document;
}

const ALL_DATASETS = 'An API key needs the scope `imports:write`. The scope of one data set is not enough.';

/** Notes for Swagger UI about the scope that a route requires. The keys are operation ids and scopes. */
const SCOPE_NOTES: Readonly<Record<string, string>> = {
  none: 'API keys cannot use this route.',
  any: 'Any valid API key can use this route.',
  full: 'Only API keys without scopes can use this route.',
  'users:write':
    'An API key needs the scope `users:write`, and also `webmasters` if the user is a Webmaster.',
  'groups:write':
    'An API key needs the scope `groups:write`, and also `webmasters` to set roles or to change the members of a group with the role Webmaster.',
  'imports:write':
    'An API key needs the scope `imports:write`, or `imports:write:<dataset>` with the data set of the import or profile.',
  deleteScimGroup:
    'An API key needs the scope `groups:write`, and also `webmasters` if the group has the role Webmaster.',
  takeScheduledFiles: ALL_DATASETS,
  addScheduledFile: ALL_DATASETS,
  setGroupRoles: 'An API key needs the scopes `groups:write` and `webmasters`.',
};

/**
 * Paths under `/docs` that are served: the page, its assets and the documents. Other files of the Swagger UI package,
 * such as source maps, are hidden.
 */
const SERVED: ReadonlySet<string> = new Set(
  `/ /swagger-ui.css /swagger-ui-bundle.js /swagger-ui-standalone-preset.js /swagger-ui-init.js
  /favicon-16x16.png /favicon-32x32.png /openapi.json`.split(/\s+/),
);

/** Serves the OpenAPI file and Swagger UI. Reads the committed file, because creating it would block other requests. */
export function serveDocs(app: INestApplication): void {
  const readDocument = (): OpenAPIObject => {
    const document = JSON.parse(readFileSync(FILE, 'utf8')) as OpenAPIObject;
    Object.assign(document.components?.securitySchemes?.['session'] ?? {}, {
      name: app.get(SessionCookie).name,
    });
    return document;
  };
  let json: Buffer | undefined;
  app.use('/docs', ({ path }: Request, _response: Response, next: NextFunction) => {
    next(SERVED.has(path) ? undefined : new NotFoundException());
  });
  app.getHttpAdapter().get('/docs/openapi.json', (_request: Request, response: Response) => {
    response.type('json').send((json ??= Buffer.from(JSON.stringify(readDocument()))));
  });
  SwaggerModule.setup('docs', app, () => toPageDocument(readDocument()), {
    raw: false,
    customSiteTitle: 'Rollcall API',
    swaggerOptions: {
      displayRequestDuration: true,
      defaultModelsExpandDepth: -1,
      validatorUrl: 'none',
      filter: true,
      docExpansion: 'list',
    },
  });
}
