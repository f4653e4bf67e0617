import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { REQUEST_BODY } from './common/docs.js';
import { SessionCookie } from './sessions/session.cookie.js';

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
    .addBearerAuth({ type: 'http', description: '`METRICS_TOKEN`, where it is set.' }, 'metrics')
    .addTag('users')
    .addTag('imports')
    .addTag('sessions')
    .addTag('api keys')
    .addTag('audit')
    .addTag('status')
    .build();
  const document = SwaggerModule.createDocument(app, config);
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

/** Swagger UI at `/docs`. */
export function serveDocs(app: INestApplication): void {
  SwaggerModule.setup('docs', app, () => openApi(app), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    customSiteTitle: 'Rollcall API',
    swaggerOptions: { displayRequestDuration: true, defaultModelsExpandDepth: -1, validatorUrl: 'none' },
  });
}
