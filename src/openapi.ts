import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { REQUEST_BODY } from './http/docs.js';
import { CHOICES } from './input/query-rules.js';
import { SessionCookie } from './sessions/session-cookie.js';

/** The OpenAPI file: made from the decorators, committed as `docs/openapi.json`, served at `/docs/openapi.json`. */
function openApi(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Rollcall')
    .setDescription(
      'Users of an intranet, kept in step with an identity source. ' +
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
        description: 'Set by a login. Leave this empty: the browser sends it by itself.',
      },
      'session',
    )
    .addBearerAuth(
      { type: 'http', bearerFormat: 'opaque', description: '`METRICS_TOKEN`, where it is set.' },
      'metrics',
    )
    .addServer('/', 'The installation that serves this file.')
    .addTag('users', 'Profiles: made, read, found, changed.')
    .addTag('imports', 'CSV files, planned against the live users, guarded, then applied.')
    .addTag('sessions', 'Logins of people, and their ends.')
    .addTag('api keys', 'Credentials of connectors.')
    .addTag('audit', 'Who did what to whom.')
    .addTag('status', 'Is the service up?')
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    // The bundler numbers the names of decorated classes.
    operationIdFactory: (controller, method) => `${controller.replace(/\d+$/, '')}_${method}`,
  });
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item as Record<string, Operation>)) {
      if (operation[REQUEST_BODY]) {
        operation.requestBody = operation[REQUEST_BODY];
        Reflect.deleteProperty(operation, REQUEST_BODY);
      }
      for (const [status, response] of Object.entries(operation.responses)) {
        if (Number(status) >= 400) asProblem(response);
      }
    }
  }
  restoreChoices(document);
  limitFormats(document);
  return document;
}

interface Operation {
  requestBody?: unknown;
  [REQUEST_BODY]?: unknown;
  responses: Record<string, { content?: Record<string, unknown> }>;
}

function asProblem(response: { content?: Record<string, unknown> }): void {
  // A route that produces something else than JSON still answers its errors in JSON.
  const [content] = Object.values(response.content ?? {});
  if (content) response.content = { 'application/problem+json': content };
}

/** Moves the values of a `ChoiceParam` to where they belong. */
function restoreChoices(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  for (const member of Object.values(node)) restoreChoices(member);
  const { schema, [CHOICES]: values } = node as { schema?: object; [CHOICES]?: string[] };
  if (schema && values) Object.assign(schema, { enum: values });
  Reflect.deleteProperty(node, CHOICES);
}

/** The limits that come with a type or format, wherever it stands: no decorator has to repeat them. */
const LIMITS: Readonly<Record<string, object>> = {
  uuid: { minLength: 36, maxLength: 36 },
  // The longest that is read: nanoseconds and an offset. What is written has 24 characters.
  'date-time': { maxLength: 35 },
  // What a number of JSON holds exactly.
  integer: { format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
};

function limitFormats(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  for (const member of Object.values(node)) limitFormats(member);
  const { type, format } = node as { type?: unknown; format?: unknown };
  const limits = LIMITS[String(type === 'string' ? format : type)];
  if (limits) Object.assign(node, { ...limits, ...node });
}

/** Swagger UI at `/docs`. */
export function serveDocs(app: INestApplication): void {
  SwaggerModule.setup('docs', app, () => openApi(app), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    customSiteTitle: 'Rollcall API',
    swaggerOptions: { displayRequestDuration: true, defaultModelsExpandDepth: -1, validatorUrl: 'none' },
  });
}
