import { type INestApplication, NotFoundException } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { toPageDocument, readScript } from './docs-page.js';
import { isObject } from './platform/common/json.js';
import { VERSION } from './platform/common/version.js';
import { completeDocument, listOperations } from './platform/openapi/document.js';
import { REQUIRED_SCOPE, applyRouteDocs } from './platform/openapi/route-docs.js';
import { SessionCookie } from './sessions/session-cookie.js';

const COOKIE = 'The session cookie, which a login sets. Leave this empty: the browser sends the cookie.';
const BEARER = { type: 'http', bearerFormat: 'opaque' } as const;

/** Creates the OpenAPI document from the decorators of the routes. `docs/openapi.json` is a committed copy. */
function createDocument(app: INestApplication): OpenAPIObject {
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
  setGroupRoles: 'An API key needs the scopes `groups:write` and `webmasters`.',
};

/**
 * Paths under `/docs` that are served: the page, its assets and the documents. Other files of the Swagger UI package,
 * such as source maps, are hidden.
 */
const SERVED: ReadonlySet<string> = new Set(
  `/ /swagger-ui.css /swagger-ui-bundle.js /swagger-ui-standalone-preset.js /swagger-ui-init.js
  /favicon-16x16.png /favicon-32x32.png /openapi.json /openapi.yaml`.split(/\s+/),
);

export function serveDocs(app: INestApplication): void {
  const script = readScript();
  // The document as the page shows it. Downloads get the unchanged document.
  let page: OpenAPIObject | undefined;
  app.use('/docs/page.js', (_request: Request, response: Response) => {
    response.type('text/javascript').send(script);
  });
  app.use('/docs', ({ path }: Request, _response: Response, next: NextFunction) => {
    next(SERVED.has(path) ? undefined : new NotFoundException());
  });
  SwaggerModule.setup('docs', app, () => createDocument(app), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    customSiteTitle: 'Rollcall API',
    customCss: STYLE,
    customJs: '/docs/page.js',
    patchDocumentOnRequest: (request: unknown, _response, document) => {
      const isPage = isObject(request) && String(request['path']).endsWith('/swagger-ui-init.js');
      return isPage ? (page ??= toPageDocument(document)) : document;
    },
    swaggerOptions: {
      displayRequestDuration: true,
      defaultModelsExpandDepth: -1,
      validatorUrl: 'none',
      filter: true,
      docExpansion: 'list',
    },
  });
}

const STYLE =
  '#who { margin: 0; padding: 0.5em 1.5em; font: 14px sans-serif; background: #fff3cd; color: #222 }';
