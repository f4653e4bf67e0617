/**
 * Whether a file name matches a pattern in which `*` is any number of characters and `?` one, in any case. In time
 * proportional to the product of their lengths, whatever they are.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const wanted = Array.from(pattern.toLowerCase());
  const given = Array.from(name.toLowerCase());
  let at = 0;
  let star = -1;
  /** How far the last star reaches. */
  let reach = 0;
  for (let index = 0; index < given.length;) {
    if (wanted[at] === '*') {
      star = at++;
      reach = index;
    } else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === given[index])) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++reach;
    } else return false;
  }
  while (wanted[at] === '*') at++;
  return at === wanted.length;
}
