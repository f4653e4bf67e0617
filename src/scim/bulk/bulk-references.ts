import { isObject } from '../../platform/common/json.js';

const PREFIX = 'bulkId:';
/** A whole text, or the end of a `$ref`. */
const REFERENCE = /^(?:.*\/)?bulkId:(.+)$/s;
/** In the filter of a PATCH path. */
const QUOTED = /"bulkId:([^"\\]+)"/g;

/** The `bulkId` that an id or a value names; undefined for one that is none of a Bulk. */
export function bulkIdIn(text: string): string | undefined {
  return text.startsWith(PREFIX) && text.length > PREFIX.length ? text.slice(PREFIX.length) : undefined;
}

/** All operations that an operation names: by its id, and in its data. */
export function referencesIn(id: string, data: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const own = bulkIdIn(id);
  if (own !== undefined) found.add(own);
  resolved(data, (bulkId) => {
    found.add(bulkId);
    return '';
  });
  return found;
}

/**
 * The data of an operation with ids where members called `value`, `$ref` and `path` name operations of the Bulk, and nowhere
 * else (RFC 7644, section 3.7.2): any other text may happen to look like that.
 */
export function resolved(data: unknown, idOf: (bulkId: string) => string): unknown {
  if (Array.isArray(data)) return data.map((each: unknown) => resolved(each, idOf));
  if (!isObject(data)) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, member(name.toLowerCase(), value, idOf)]),
  );
}

function member(name: string, value: unknown, idOf: (bulkId: string) => string): unknown {
  if (name === 'value' && Array.isArray(value)) return value.map((each: unknown) => member(name, each, idOf));
  if (typeof value !== 'string') return resolved(value, idOf);
  if (name === 'path') return value.replace(QUOTED, (_, bulkId: string) => `"${idOf(bulkId)}"`);
  if (name === '$ref') {
    const bulkId = REFERENCE.exec(value)?.[1];
    return bulkId === undefined ? value : value.slice(0, -(PREFIX.length + bulkId.length)) + idOf(bulkId);
  }
  const bulkId = name === 'value' ? bulkIdIn(value) : undefined;
  return bulkId === undefined ? value : idOf(bulkId);
}
