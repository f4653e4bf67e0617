import { useEffect, useRef } from 'preact/hooks';
import { useStore } from '../lib/store.js';
import { type Run, sessionRenewals } from './client.js';

/** Maximum event streams. With HTTP/1.1, a browser opens only six connections to a host. */
const STREAMS = 3;
const WORKING: readonly Run['state'][] = ['queued', 'validating', 'applying'];

/** Returns true while the service is working on a run. */
export const isWorking = (run: Run): boolean => WORKING.includes(run.state);

/** Subscribes to the events of working runs. @param onRun called with every new state of a run. */
export function useRunEvents(runs: readonly Run[], onRun: (run: Run) => void): void {
  const working = runs.filter(isWorking).slice(0, STREAMS);
  const latest = useRef(onRun);
  latest.current = onRun;
  const renewalCount = useStore(sessionRenewals); // a rejected stream does not reconnect automatically
  useEffect(() => {
    const streams = working.map(({ id }) => {
      const stream = new EventSource(`/api/0.3/imports/${id}/events`);
      stream.addEventListener('progress', (event: MessageEvent<string>) => {
        const run = JSON.parse(event.data) as Run;
        if (!isWorking(run)) stream.close(); // otherwise the browser reconnects after the service ends the stream
        latest.current(run);
      });
      return stream;
    });
    return () => {
      for (const stream of streams) stream.close();
    };
  }, [working.map(({ id }) => id).join(), renewalCount]);
}
