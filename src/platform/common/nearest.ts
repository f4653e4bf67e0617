/** Number of characters of a name that are compared. */
const MAX_LENGTH = 64;

/**
 * Returns the candidate with the fewest edits from a misspelt name, ignoring case.
 * @param max maximum number of edits. The default is a third of the candidate's length, but at least 1.
 * @returns undefined if no candidate is near enough.
 */
export function findNearest(name: string, candidates: Iterable<string>, max?: number): string | undefined {
  const wanted = name.trim().toLowerCase().slice(0, MAX_LENGTH);
  let best: string | undefined;
  let least = Infinity;
  for (const candidate of candidates) {
    const allowed = Math.min(least - 1, max ?? Math.max(1, Math.floor(candidate.length / 3)));
    if (Math.abs(candidate.length - wanted.length) > allowed) continue; // counting the edits would take much longer
    const edits = countEdits(wanted, candidate.toLowerCase());
    if (edits <= allowed) {
      best = candidate;
      least = edits;
    }
  }
  return best;
}

/** Counts insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function countEdits(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        edits = Math.min(edits, (beforeLast[j - 2] ?? 0) + 1);
      row.push(edits);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
