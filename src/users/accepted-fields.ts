import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ProblemError } from '../platform/common/errors.js';
import { fieldsOf } from '../platform/common/fields.js';
import { type JsonObject, isObject } from '../platform/common/json.js';
import { caseFold } from '../platform/common/text.js';
import { describeHeader } from '../platform/openapi/docs.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { NETWORKS } from './model/formats.js';
import { ChangedUserInput, NewUserInput, type WritableUserInput } from './rules/user.input.js';

/** Header of an answer that names the fields of the request which were ignored. */
const IGNORED_FIELDS = 'X-Ignored-Fields';
/** Characters of that header: the rest of the names is counted. */
const MAX_IGNORED_TEXT = 1000;
const MAX_NAME = 64;

/** Describes the header in the OpenAPI file. */
export const IGNORED_HEADER = describeHeader(
  IGNORED_FIELDS,
  'Fields of the body that this service does not have, for an API key with `unknown_fields: "ignore"`; `+3` at the end ' +
    'means three more.',
  { maxLength: MAX_IGNORED_TEXT },
);

/** A field that one of the two routes knows is not unknown to the service: `uuid` in a POST stays an error. */
const KNOWN: ReadonlySet<string> = new Set([...fieldsOf(NewUserInput), ...fieldsOf(ChangedUserInput)]);
const KNOWN_NETWORKS: ReadonlySet<string> = new Set(NETWORKS);

/**
 * Takes fields that this service does not have out of the user that a request sends, where its API key is made so
 * (`unknown_fields: "ignore"`): connectors of larger products send all they have. Runs before the body is read as an input;
 * wrong values of known fields stay errors.
 */
@Injectable()
export class UnknownFields implements NestInterceptor {
  constructor(private readonly metrics: Metrics) {}

  intercept(context: ExecutionContext, next: CallHandler): ReturnType<CallHandler['handle']> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request<object, unknown, JsonObject>>();
    const { actor } = request;
    if (actor.kind === 'key' && actor.ignoresUnknownFields) this.removeUnknown(request, http.getResponse());
    return next.handle();
  }

  private removeUnknown(request: Request<object, unknown, JsonObject>, response: Response): void {
    const { known, ignored } = sorted(request.body);
    if (ignored.length === 0) return;
    request.body = known;
    response.setHeader(IGNORED_FIELDS, headerOf(ignored));
    this.metrics.ignoredFields(ignored.length);
  }
}

/** The body without its unknown fields, and their names. */
function sorted(body: JsonObject): { known: JsonObject; ignored: string[] } {
  const ignored: string[] = [];
  const keep = (object: JsonObject, names: ReadonlySet<string>, path: string): [string, unknown][] =>
    Object.entries(object).filter(([name]) => {
      if (!names.has(name)) ignored.push(path + name);
      return names.has(name);
    });
  const known = Object.fromEntries(keep(body, KNOWN, ''));
  const { social_media: links } = known;
  if (!isObject(links)) return { known, ignored };
  const kept = keep(links, KNOWN_NETWORKS, 'social_media.');
  // An object that is empty now was not sent empty, which would clear the field.
  if (kept.length > 0 || Object.keys(links).length === 0) known['social_media'] = Object.fromEntries(kept);
  else delete known['social_media'];
  return { known, ignored };
}

/** The names as a header may hold them: what else a name has is shown as `?`. */
export function headerOf(names: readonly string[]): string {
  const parts: string[] = [];
  let length = 0;
  for (const name of names) {
    const part =
      Array.from(name.slice(0, MAX_NAME), (char) => (/[\w.-]/.test(char) ? char : '?')).join('') || '?';
    if (length + part.length + 2 > MAX_IGNORED_TEXT - 12) break; // room for the number of the rest
    parts.push(part);
    length += part.length + 2;
  }
  if (parts.length < names.length) parts.push(`+${names.length - parts.length}`);
  return parts.join(', ');
}

/** The fields of their own profile that all users may change (interface §3, "who writes"). */
const SELF_FIELDS = new Set([
  'phone',
  'mobile',
  'known_as',
  'password',
  'current_password',
  'user_avatar',
  'about_me',
  'social_media',
  'hide_email',
  'hide_phone_numbers',
]);

/** Fields that clients send back as they read them. They are accepted and never written. */
const READ_ONLY = new Set(['uuid', 'created', 'updated', 'last_access', 'attributes', 'group_roles']);

export function withoutReadOnly(sent: ChangedUserInput): WritableUserInput {
  return Object.fromEntries(Object.entries(sent).filter(([field]) => !READ_ONLY.has(field)));
}

/**
 * Returns the self fields of a user's own change. Clients send back what they read, so the current value of any other
 * field is accepted and left out: written, it could undo what a Webmaster changes at the same moment.
 * @param sent the result of `readInput`, in the form in which it would be stored.
 * @param shown the profile as its owner reads it. A field that it lacks has no current value to send back.
 * @throws ProblemError `field_not_permitted` naming the fields.
 */
export function pickSelfFields(sent: WritableUserInput, shown: object): WritableUserInput {
  const current: Readonly<Record<string, unknown>> = { ...shown };
  const refused = Object.entries(sent)
    .filter(([field, value]) => value !== undefined && !SELF_FIELDS.has(field))
    .filter(([field, value]) => !(field in current && isCurrent(value, current[field])))
    .map(([field]) => field);
  if (refused.length > 0) {
    throw new ProblemError('field_not_permitted', `Only a Webmaster may change: ${refused.join(', ')}.`);
  }
  return Object.fromEntries(Object.entries(sent).filter(([field]) => SELF_FIELDS.has(field)));
}

function isCurrent(sent: unknown, shown: unknown): boolean {
  return JSON.stringify(comparable(sent)) === JSON.stringify(comparable(shown));
}

/** All empty values are equal, and roles have neither order nor case. */
function comparable(value: unknown): unknown {
  if (value === '') return null;
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(roleKey).toSorted();
  if (isObject(value)) return Object.keys(value).length === 0 ? null : value;
  return value ?? null;
}

const roleKey = (role: unknown): unknown => (typeof role === 'string' ? caseFold(role) : role);
