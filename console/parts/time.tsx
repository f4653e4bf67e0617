import { createStore, useStore } from '../lib/store.js';
import { formatRelativeTime, formatExactTime, formatTime } from '../lib/time.js';

/** Current time, shared by all displayed times. */
const now = createStore(Date.now());
setInterval(() => now.set(Date.now()), 30_000);

/** Shows a local time with the exact time as a tooltip. @param isShort true shows a relative time. */
export function Time({ at, isShort = true }: { at: string | null | undefined; isShort?: boolean }) {
  useStore(now); // renders again as time passes
  if (!at) return <span class="none">never</span>;
  return (
    <time dateTime={at} title={formatExactTime(at)}>
      {isShort ? formatRelativeTime(at) : formatTime(at)}
    </time>
  );
}
