/** Offsets [start, end) in a text, ascending and without overlap. */
export type Intervals = [start: number, end: number][];

export const contains = (intervals: Intervals, offset: number): boolean =>
  intervals.some(([start, end]) => start <= offset && offset < end);

/** Returns the union of two sets of offsets. */
export function unite(a: Intervals, b: Intervals): Intervals {
  const united: Intervals = [];
  for (const [start, end] of [...a, ...b].sort((one, other) => one[0] - other[0])) {
    const last = united.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else united.push([start, end]);
  }
  return united;
}

/** A range of a program with the number of its calls. The range of the module itself has `isModule`. */
export interface CountedRange {
  startOffset: number;
  endOffset: number;
  count: number;
  isModule: boolean;
}

/** Returns the offsets of called functions, and the offsets outside all functions. The ranges are nested. */
export function flatten(ranges: readonly CountedRange[]): { called: Intervals; module: Intervals } {
  const called: Intervals = [];
  const module: Intervals = [];
  const stack: CountedRange[] = [];
  let at = 0;
  const advance = (to: number): void => {
    const inner = stack.at(-1);
    if (inner && to > at) {
      if (inner.isModule) module.push([at, to]);
      else if (inner.count > 0) called.push([at, to]);
    }
    at = Math.max(at, to);
  };
  const close = (before: number): void => {
    for (let top = stack.at(-1); top && top.endOffset <= before; top = stack.at(-1)) {
      advance(top.endOffset);
      stack.pop();
    }
  };
  for (const range of [...ranges].sort(
    (a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset,
  )) {
    close(range.startOffset);
    advance(range.startOffset);
    stack.push(range);
  }
  close(Infinity);
  return { called: unite(called, []), module: unite(module, []) };
}
