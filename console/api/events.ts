import { useEffect, useRef } from 'preact/hooks';
import { useStore } from '../lib/store.js';
import { type Run, renewals } from './client.js';

/** A browser opens six connections to a service that speaks HTTP/1.1: some must be left for everything else. */
const STREAMS = 3;
const WORKING: readonly Run['state'][] = ['queued', 'validating', 'applying'];

/** Whether a run still changes by itself. */
export const isWorking = (run: Run): boolean => WORKING.includes(run.state);

/** Watches runs by the events that the service sends, until each of them stops. @param onRun is called with every new state. */
export function useRunEvents(runs: readonly Run[], onRun: (run: Run) => void): void {
  const ids = runs
    .filter(isWorking)
    .slice(0, STREAMS)
    .map(({ id }) => id)
    .join();
  const latest = useRef(onRun);
  latest.current = onRun;
  const renewal = useStore(renewals); // a stream that was refused does not begin anew by itself
  useEffect(() => {
    const streams = ids
      .split(',')
      .filter((id) => id !== '')
      .map((id) => {
        const stream = new EventSource(`/api/0.3/imports/${id}/events`);
        stream.addEventListener('progress', (event: MessageEvent<string>) => {
          const run = JSON.parse(event.data) as Run;
          if (!isWorking(run)) stream.close(); // else the browser would ask again when the service ends the answer
          latest.current(run);
        });
        return stream;
      });
    return () => {
      for (const stream of streams) stream.close();
    };
  }, [ids, renewal]);
}
