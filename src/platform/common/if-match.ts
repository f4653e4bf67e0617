/**
 * Returns the versions that an `If-Match` admits, undefined when it admits any (`*`, or no header).
 * @param tag matches an entity tag of this service, with the version as its first group. Other tags admit no version.
 */
export function parseIfMatch(ifMatch: string | undefined, tag: RegExp): number[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  return ifMatch.split(',').flatMap((each) => {
    const found = tag.exec(each.trim())?.[1];
    return found === undefined ? [] : [Number(found)];
  });
}
