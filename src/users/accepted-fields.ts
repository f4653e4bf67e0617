import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ProblemError } from '../platform/common/errors.js';
import { fieldsOf } from '../platform/common/fields.js';
import { type JsonObject, isEmptyValue, isObject } from '../platform/common/json.js';
import { foldCase } from '../platform/common/text.js';
import { describeHeader } from '../platform/openapi/shared-schemas.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { NETWORKS } from './model/formats.js';
import { ChangedUserInput, NewUserInput, UserInput, type WritableUserInput } from './rules/user.input.js';

const IGNORED_FIELDS = 'X-Ignored-Fields';
/** Maximum number of names in the header `X-Ignored-Fields`. The number of further names follows, as in `+3`. */
const MAX_NAMES = 50;
const MAX_NAME = 64;

export const IGNORED_HEADER = describeHeader(
  IGNORED_FIELDS,
  'Names of unknown fields in the body, which were ignored. Only sent to an API key with `unknown_fields: "ignore"`. `+3` at the end ' +
    'means three more fields.',
  { maxLength: 3500 },
);

/** Fields that POST or PUT accepts, and that are therefore never ignored. `uuid` in a POST is an error. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([...fieldsOf(NewUserInput), ...fieldsOf(ChangedUserInput)]);
const KNOWN_NETWORKS: ReadonlySet<string> = new Set(NETWORKS);

/**
 * Removes unknown fields from the request body if the API key has `unknown_fields: "ignore"`. This setting helps
 * connectors that always send the fields of a larger product.
 */
@Injectable()
export class UnknownFieldsInterceptor implements NestInterceptor {
  constructor(private readonly metrics: Metrics) {}

  intercept(context: ExecutionContext, next: CallHandler): ReturnType<CallHandler['handle']> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request<object, unknown, JsonObject>>();
    const { actor } = request;
    if (actor.kind !== 'key' || !actor.ignoresUnknownFields) return next.handle();
    const { known, ignored } = splitFields(request.body);
    if (ignored.length > 0) {
      request.body = known;
      http.getResponse<Response>().setHeader(IGNORED_FIELDS, formatNames(ignored));
      this.metrics.ignoredFields.inc(ignored.length);
    }
    return next.handle();
  }
}

function splitFields(body: JsonObject): { known: JsonObject; ignored: string[] } {
  const ignored: string[] = [];
  const filterKnown = (object: JsonObject, names: ReadonlySet<string>, path: string): [string, unknown][] =>
    Object.entries(object).filter(([name]) => {
      if (!names.has(name)) ignored.push(path + name);
      return names.has(name);
    });
  const known = Object.fromEntries(filterKnown(body, KNOWN_FIELDS, ''));
  const { social_media: links } = known;
  if (!isObject(links)) return { known, ignored };
  const knownLinks = filterKnown(links, KNOWN_NETWORKS, 'social_media.');
  // Removes `social_media` if the request contains only unknown networks, because an empty object would delete all
  // networks.
  if (knownLinks.length > 0 || isEmptyValue(links)) known['social_media'] = Object.fromEntries(knownLinks);
  else delete known['social_media'];
  return { known, ignored };
}

/** Formats field names for the response header. Replaces characters that a header may not contain by `?`. */
export function formatNames(names: readonly string[]): string {
  const toHeaderText = (name: string): string => name.slice(0, MAX_NAME).replace(/[^\w.-]/gu, '?') || '?';
  const shown = names.slice(0, MAX_NAMES).map(toHeaderText);
  if (names.length > MAX_NAMES) shown.push(`+${names.length - MAX_NAMES}`);
  return shown.join(', ');
}

/** Fields that every user may change in the user's own profile (interface §3, "who writes"). */
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

const WRITABLE_FIELDS: ReadonlySet<string> = new Set([...fieldsOf(UserInput), 'current_password']);

/** Omits read-only fields, which requests may contain, because clients send back what they have read. */
export function omitReadOnlyFields(sent: ChangedUserInput): WritableUserInput {
  return Object.fromEntries(Object.entries(sent).filter(([field]) => WRITABLE_FIELDS.has(field)));
}

/**
 * Returns the fields in the request that users may change in their own profile. Other fields are accepted only with
 * their current value. The result omits them, because writing them could undo a concurrent change by a Webmaster.
 * @param sent the result of `readInput`.
 * @param shown the profile as its owner sees it.
 * @throws ProblemError `field_not_permitted` with the names of the other fields whose value differs.
 */
export function pickSelfFields(sent: WritableUserInput, shown: object): WritableUserInput {
  const current: Readonly<Record<string, unknown>> = { ...shown };
  const refused = Object.entries(sent)
    .filter(([field, value]) => value !== undefined && !SELF_FIELDS.has(field))
    .filter(([field, value]) => !(field in current && isUnchanged(value, current[field])))
    .map(([field]) => field);
  if (refused.length > 0) {
    throw new ProblemError('field_not_permitted', `Only a Webmaster can change: ${refused.join(', ')}.`);
  }
  return Object.fromEntries(Object.entries(sent).filter(([field]) => SELF_FIELDS.has(field)));
}

function isUnchanged(sent: unknown, shown: unknown): boolean {
  return JSON.stringify(toComparedValue(sent)) === JSON.stringify(toComparedValue(shown));
}

function toComparedValue(value: unknown): unknown {
  if (isEmptyValue(value)) return null;
  return Array.isArray(value) ? value.map(foldRoleCase).toSorted() : value;
}

const foldRoleCase = (role: unknown): unknown => (typeof role === 'string' ? foldCase(role) : role);
