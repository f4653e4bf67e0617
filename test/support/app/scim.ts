import { randomBytes } from 'node:crypto';
import { API_KEY, type TestApp } from './app.js';
import { type Answer, Client, type Json } from './client.js';

export const SCIM = '/scim/v2';
export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const ROLLCALL = 'urn:ietf:params:scim:schemas:extension:rollcall:2.0:User';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** A SCIM client. Every answer is checked against the OpenAPI file. */
export class ScimClient {
  constructor(private readonly client: Client) {}

  with(headers: Record<string, string>): ScimClient {
    return new ScimClient(this.client.with(headers));
  }

  send(
    method: string,
    path: string,
    body?: object | string,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const type: Record<string, string> =
      text === undefined ? {} : { 'content-type': 'application/scim+json' };
    return this.client.checked(method, `${SCIM}${path}`, text, { ...type, ...headers });
  }

  get(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body: object, headers?: Record<string, string>): Promise<Answer> {
    return this.send('POST', path, body, headers);
  }

  put(path: string, body: object, headers?: Record<string, string>): Promise<Answer> {
    return this.send('PUT', path, body, headers);
  }

  delete(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.send('DELETE', path, undefined, headers);
  }

  /** A PATCH of these operations. */
  patch(path: string, ...operations: object[]): Promise<Answer> {
    return this.send('PATCH', path, { schemas: [PATCH], Operations: operations });
  }

  /** Users that match a filter. */
  find(filter: string): Promise<Answer> {
    return this.get(`/Users?filter=${encodeURIComponent(filter)}`);
  }
}

/** A client with an API key as bearer token. */
export const scimOf = ({ url }: TestApp, key = API_KEY): ScimClient =>
  new ScimClient(new Client(url, { authorization: `Bearer ${key}` }));

/** A valid body of `POST /Users` whose unique attributes are new in every call. */
export function aScimUser(overrides: Record<string, unknown> = {}): Record<string, Json> {
  const unique = randomBytes(5).toString('hex');
  return {
    schemas: [USER],
    userName: `user-${unique}`,
    emails: [{ value: `${unique}@example.org`, type: 'work', primary: true }],
    ...overrides,
  };
}

/** Creates a user and returns its resource. */
export async function provision(scim: ScimClient, overrides: Record<string, unknown> = {}): Promise<Json> {
  const { status, body, text } = await scim.post('/Users', aScimUser(overrides));
  if (status !== 201) throw new Error(`provision: ${status} ${text}`);
  return body;
}

/** Status, scimType and detail of an error. */
export const errorOf = ({ status, body }: Answer): [number, string | undefined, string] => [
  status,
  body.scimType,
  body.detail,
];

/** A client with a key of this profile and these scopes. */
export async function scimAs(
  app: TestApp,
  rights: { profile?: string; scopes?: string[] },
): Promise<ScimClient> {
  const answer = await app.key.post('/api_keys', { name: 'provider', ...rights });
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  return scimOf(app, answer.body.key as string);
}
