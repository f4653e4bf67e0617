import { randomBytes } from 'node:crypto';
import { API_KEY, type TestApp } from './app.js';
import { type Answer, Client, type Json } from './client.js';

export const SCIM = '/scim/v2';
export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const ROLLCALL = 'urn:ietf:params:scim:schemas:extension:rollcall:2.0:User';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** A SCIM client. Every response is checked against the OpenAPI file. */
export class ScimClient {
  /** @param getClient returns the client. The application may start after the constructor is called. */
  constructor(private readonly getClient: () => Client) {}

  send(
    method: string,
    path: string,
    body?: object | string,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const type: Record<string, string> =
      text === undefined ? {} : { 'content-type': 'application/scim+json' };
    return this.getClient().fetchChecked(method, `${SCIM}${path}`, text, { ...type, ...headers });
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

  /** Sends a PATCH with these operations. */
  patch(path: string, ...operations: object[]): Promise<Answer> {
    return this.send('PATCH', path, { schemas: [PATCH], Operations: operations });
  }

  /** Lists the users that match a filter. */
  find(filter: string): Promise<Answer> {
    return this.get(`/Users?filter=${encodeURIComponent(filter)}`);
  }
}

/** Returns a client with an API key as bearer token. */
export const scimOf = (app: TestApp, key = API_KEY): ScimClient =>
  new ScimClient(() => new Client(app.url, { authorization: `Bearer ${key}` }));

/** Builds a valid body of `POST /Users`. Its unique attributes are new in every call. */
export function aScimUser(overrides: Record<string, unknown> = {}): Record<string, Json> {
  const unique = randomBytes(5).toString('hex');
  return {
    schemas: [USER],
    userName: `user-${unique}`,
    emails: [{ value: `${unique}@example.org`, type: 'work', primary: true }],
    ...overrides,
  };
}

/** Creates a user. Returns the resource. */
export async function provision(scim: ScimClient, overrides: Record<string, unknown> = {}): Promise<Json> {
  const { status, body, text } = await scim.post('/Users', aScimUser(overrides));
  if (status !== 201) throw new Error(`provision: ${status} ${text}`);
  return body;
}

/** Returns status, scimType and detail of an error response. */
export const errorOf = ({ status, body }: Answer): [number, string | undefined, string] => [
  status,
  body.scimType,
  body.detail,
];

/** Creates an API key with a profile and scopes. Returns a client with that key. */
export async function createScimClient(
  app: TestApp,
  rights: { profile?: string; scopes?: string[] },
): Promise<ScimClient> {
  const { status, text, body } = await app.key.post('/api_keys', { name: 'provider', ...rights });
  if (status !== 201) throw new Error(`${status} ${text}`);
  return scimOf(app, body.key as string);
}
