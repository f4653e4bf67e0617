import { useEffect } from 'preact/hooks';
import { store, useStore } from '../lib/store.js';
import { ago, exact, moment } from '../lib/time.js';

/** All times of the page get older together. */
const now = store(Date.now());
let clocks = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** A time in the reader's zone, the exact one on hover. @param isShort how long ago it was, instead of the moment. */
export function Time({ at, isShort = true }: { at: string | null | undefined; isShort?: boolean }) {
  useStore(now); // so that it is drawn again
  useEffect(() => {
    if (clocks++ === 0)
      timer = setInterval(() => {
        now.set(Date.now());
      }, 30_000);
    return () => {
      if (--clocks === 0) clearInterval(timer);
    };
  }, []);
  if (!at) return <span class="none">never</span>;
  return (
    <time dateTime={at} title={exact(at)}>
      {isShort ? ago(at) : moment(at)}
    </time>
  );
}
