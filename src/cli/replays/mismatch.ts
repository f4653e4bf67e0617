import { isObject } from '../../platform/common/json.js';
import { type Template, isList } from './replay.js';

/**
 * Where a value lacks something that is wanted, as a text for a person; undefined where it has all of it.
 * Objects may have more members; a list has as many elements; null is wanted to be absent.
 */
export function mismatch(wanted: Template, found: unknown, path = ''): string | undefined {
  if (wanted === null) return found === undefined ? undefined : `${path} is there`;
  if (isList(wanted)) {
    if (!Array.isArray(found)) return `${path} is no list`;
    if (found.length !== wanted.length)
      return `${path} has ${found.length} elements instead of ${wanted.length}`;
    return firstOf(wanted.map((each, index) => [each, found[index], `${path}[${index}]`]));
  }
  if (typeof wanted === 'object') {
    if (!isObject(found)) return `${path || 'the answer'} is no object`;
    const at = (name: string): string => (path ? `${path}.${name}` : name);
    return firstOf(Object.entries(wanted).map(([name, each]) => [each, found[name], at(name)]));
  }
  return wanted === found
    ? undefined
    : `${path} is ${found === undefined ? 'absent' : JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`;
}

function firstOf(pairs: [wanted: Template, found: unknown, path: string][]): string | undefined {
  for (const [wanted, found, path] of pairs) {
    const wrong = mismatch(wanted, found, path);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
