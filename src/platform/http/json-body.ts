import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ProblemError } from '../common/errors.js';
import { type JsonObject, isObject, jsonExcess } from '../common/json.js';
import { BodyReader } from './body-reader.js';
import { type BodyRules, JSON_BODY, JSON_DEPTH } from './bounds.js';
import { hasBody } from './unread-body.js';

/** A media type, with no other character set than UTF-8. */
const TYPE = /^([a-z+/]+)\s*(?:;\s*charset="?utf-?8"?\s*)?$/i;

/** Reads JSON objects from bodies. */
@Injectable()
export class JsonBody {
  constructor(private readonly reader: BodyReader) {}

  /**
   * The JSON object in a request's body.
   * @param own the rules of the route that differ from `JSON_BODY`.
   * @throws ProblemError as `BodyReader.read`; `malformed_json` for anything but one JSON object in UTF-8.
   */
  async read(request: Request, response: Response, own: Partial<BodyRules>): Promise<JsonObject> {
    const rules = { ...JSON_BODY, ...own };
    if (!hasBody(request)) {
      throw new ProblemError('malformed_json', 'The request has no body; a JSON object is needed.');
    }
    const [, type = ''] = TYPE.exec(request.headers['content-type'] ?? '') ?? [];
    if (!rules.types.includes(type.toLowerCase())) {
      throw new ProblemError(
        'unsupported_media_type',
        `The body must be sent as ${rules.types.join(' or ')}, in UTF-8.`,
      );
    }
    return parse(decode(await this.reader.read(request, response, rules)), rules);
  }
}

function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new ProblemError('malformed_json', 'The body is not valid UTF-8.');
  }
}

function parse(text: string, { maxValues }: BodyRules): JsonObject {
  const excess = jsonExcess(text, { depth: JSON_DEPTH, values: maxValues });
  if (excess === 'depth') {
    throw new ProblemError('malformed_json', `The body is nested deeper than ${JSON_DEPTH} levels.`);
  }
  if (excess === 'values') {
    throw new ProblemError('too_large', `The body holds more than ${maxValues} values.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ProblemError('malformed_json', `The body is not valid JSON${position(error)}.`);
  }
  if (!isObject(value)) throw new ProblemError('malformed_json', 'The body must be a JSON object.');
  return value;
}

/** Where the parser stopped; the rest of its message quotes the body, which may hold a password. */
function position(error: unknown): string {
  const found = /position \d+/.exec(error instanceof Error ? error.message : '');
  return found ? ` (at ${found[0]})` : '';
}
