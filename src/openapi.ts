import { type INestApplication, NotFoundException } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { REQUIRED_SCOPE } from './access/decorators.js';
import { IDEMPOTENCY_KEY, QUOTA, REQUEST_BODY } from './platform/openapi/docs.js';
import { REPLAYED } from './platform/http/error.filter.js';
import { forPeople, pageScript } from './docs-page.js';
import { addFormFields, closeBody } from './platform/openapi/openapi-bodies.js';
import { CHOICES } from './platform/input/query-rules.js';
import { isObject } from './platform/common/json.js';
import { VERSION } from './platform/common/version.js';
import { operationId } from './operation-ids.js';
import { SCIM_TYPE } from './scim/http/scim-format.js';
import { SessionCookie } from './sessions/session-cookie.js';

/** The OpenAPI document, generated from the decorators. `docs/openapi.json` is a committed copy. */
function openApi(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Rollcall')
    .setDescription(
      'Users of an intranet, kept in sync with an identity source. ' +
        `Version ${VERSION} of the service. ` +
        'Authorize with an API key, or call `POST /sessions/login` here: the browser keeps the cookie.',
    )
    .setVersion('0.3')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'api_key')
    .addCookieAuth(
      app.get(SessionCookie).name,
      {
        type: 'apiKey',
        in: 'cookie',
        description: 'Set by a login. Leave this empty: the browser sends the cookie.',
      },
      'session',
    )
    .addBearerAuth(
      { type: 'http', bearerFormat: 'opaque', description: '`METRICS_TOKEN`, if it is set.' },
      'metrics',
    )
    .addBearerAuth(
      { type: 'http', bearerFormat: 'opaque', description: 'An API key, as SCIM clients send it.' },
      'scim',
    )
    .addServer('/', 'The installation that serves this file.')
    .addTag('sessions', 'Logins and logouts of people.')
    .addTag('users', 'Profiles: create, read, search, change.')
    .addTag('groups', 'Groups of identity providers, and the roles that their members get.')
    .addTag('imports', 'CSV files, planned against the live users, guarded, then applied.')
    .addTag('api keys', 'Credentials of connectors.')
    .addTag('audit', 'Who changed what.')
    .addTag('scim', 'SCIM 2.0: identity providers create, find, change and delete users and groups.')
    .addTag('status', 'Is the service up?')
    .build();
  const document = SwaggerModule.createDocument(app, config, { operationIdFactory: operationId });
  const components = (document.components ??= {});
  const { schemas = {} } = components;
  components.headers = { ...QUOTA, ...REPLAY };
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item).filter(isOperation)) {
      if (operation[REQUEST_BODY]) {
        operation.requestBody = operation[REQUEST_BODY];
        Reflect.deleteProperty(operation, REQUEST_BODY);
      }
      closeBody(operation, schemas);
      describeScope(operation);
      for (const [status, response] of Object.entries(operation.responses)) {
        if (Number(status) >= 400) asProblem(response);
        else if (operation.parameters?.some(({ name }) => name === IDEMPOTENCY_KEY))
          response.headers = { ...response.headers, ...refersTo(REPLAY) };
        if (Number(status) < 500) response.headers = { ...response.headers, ...refersTo(QUOTA) };
      }
    }
  }
  complete(document);
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item).filter(isOperation)) addFormFields(operation);
  }
  return document;
}

/** The header of an answer that was sent before. */
const REPLAY = {
  [REPLAYED]: {
    description: 'Present when this is the answer to an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
};

/** Headers that many answers have are written once. */
function refersTo(headers: object): object {
  return Object.fromEntries(
    Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

interface Operation {
  description?: string;
  [REQUIRED_SCOPE]?: string;
  requestBody?: unknown;
  parameters?: { name: string; in?: string }[];
  [REQUEST_BODY]?: unknown;
  responses: Record<string, { content?: Record<string, unknown>; headers?: object }>;
}

function isOperation(value: unknown): value is Operation {
  return isObject(value) && 'responses' in value;
}

/** What the extension says, where a reader of Swagger UI sees it. */
const SCOPE_NOTES: Readonly<Record<string, string>> = {
  none: 'Not for API keys.',
  any: 'Any valid API key.',
  'users:write': 'An API key needs the scope `users:write`, and `webmasters` where the user is a Webmaster.',
  'groups:write':
    'An API key needs the scope `groups:write`, and `webmasters` for the roles of a group and for members of one that makes Webmasters.',
  'imports:write':
    'An API key needs the scope `imports:write`, or `imports:write:<dataset>` with the data set of the run.',
};

function describeScope(operation: Operation): void {
  const scope = operation[REQUIRED_SCOPE];
  if (scope === undefined) return;
  const note = SCOPE_NOTES[scope] ?? `An API key needs the scope \`${scope}\`.`;
  operation.description = [operation.description, note].filter(Boolean).join('\n\n');
}

function asProblem(response: { content?: Record<string, unknown> }): void {
  // Errors are JSON even on routes that produce another type.
  const [content] = Object.values(response.content ?? {});
  const isScim = response.content?.[SCIM_TYPE] !== undefined; // SCIM has a form of its own
  if (content && !isScim) response.content = { 'application/problem+json': content };
}

/** The limits that a type or format implies, so that no decorator has to repeat them. */
const LIMITS: Readonly<Record<string, object>> = {
  uuid: { minLength: 36, maxLength: 36 },
  // The longest accepted text, with nanoseconds and an offset. Answers have 24 characters.
  'date-time': { maxLength: 35 },
  // The integers that a JSON number represents exactly.
  integer: { format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
};

/** Moves the values of `choices` into the schemas they belong to, and adds the limits, throughout the document. */
function complete(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  for (const member of Object.values(node)) complete(member);
  if (!isObject(node)) return;
  const { schema, type, format, [CHOICES]: values } = node;
  if (isObject(schema) && values) schema['enum'] = values;
  Reflect.deleteProperty(node, CHOICES);
  const limits = LIMITS[String(type === 'string' ? format : type)];
  if (limits) Object.assign(node, { ...limits, ...node });
}

/** The page, what it loads, and the documents. The package has more: other builds, source maps, its version. */
const SERVED: ReadonlySet<string> = new Set([
  '/',
  '/swagger-ui.css',
  '/swagger-ui-bundle.js',
  '/swagger-ui-standalone-preset.js',
  '/swagger-ui-init.js',
  '/favicon-16x16.png',
  '/favicon-32x32.png',
  '/openapi.json',
  '/openapi.yaml',
]);

/** Swagger UI at `/docs`. */
export function serveDocs(app: INestApplication): void {
  const script = pageScript();
  app.use('/docs/page.js', (_request: Request, response: Response) => {
    response.type('text/javascript').send(script);
  });
  app.use('/docs', ({ path }: Request, _response: Response, next: NextFunction) => {
    next(SERVED.has(path) ? undefined : new NotFoundException());
  });
  SwaggerModule.setup('docs', app, () => openApi(app), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    customSiteTitle: 'Rollcall API',
    customCss: STYLE,
    customJs: '/docs/page.js',
    patchDocumentOnRequest: pageDocument(),
    swaggerOptions: {
      displayRequestDuration: true,
      defaultModelsExpandDepth: -1,
      validatorUrl: 'none',
      filter: true,
      docExpansion: 'list',
    },
  });
}

/** The page has the document for people; clients get the file as it is. */
function pageDocument() {
  let made: OpenAPIObject | undefined;
  return (request: unknown, _response: unknown, document: OpenAPIObject): OpenAPIObject => {
    const isPage = isObject(request) && String(request['path']).endsWith('/swagger-ui-init.js');
    return isPage ? (made ??= forPeople(document)) : document;
  };
}

const STYLE =
  '#who { margin: 0; padding: 0.5em 1.5em; font: 14px sans-serif; background: #fff3cd; color: #222 }';
