import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useStore } from '../lib/store.js';
import { renewals } from './client.js';
import { type Problem, problemOf } from './problem.js';

export interface Resource<T> {
  /** What was read last, also while the next is read: a page does not flicker. */
  data: T | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  reload: () => void;
  set: (data: T) => void;
}

/** Statuses of a service that is away, or not reached: it is asked again by itself. */
const AWAY = [0, 502, 503, 504];
const RETRY_MILLIS = 5000;

/** Calls something again and again, while somebody looks at the page. */
export function useEvery(millis: number, look: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) look();
    }, millis);
    return () => {
      clearInterval(timer);
    };
  }, [millis, look]);
}

/**
 * Reads something from the service, and again when `key` changes. An answer that is overtaken by a newer request is dropped.
 * @param key names what is read; undefined reads nothing.
 */
export function useResource<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
): Resource<T> {
  const [state, setState] = useState<{ data?: T; problem?: Problem; isLoading: boolean }>({
    isLoading: true,
  });
  const [turn, setTurn] = useState(0);
  const known = useRef<string | undefined>(undefined);
  const latest = useRef(load);
  const renewal = useStore(renewals);
  latest.current = load;
  useEffect(() => {
    if (key === undefined) return undefined;
    const end = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    setState(({ data }) => ({ ...(data !== undefined && { data }), isLoading: true }));
    latest.current(end.signal).then(
      (data) => {
        if (end.signal.aborted) return;
        known.current = key;
        setState({ data, isLoading: false });
      },
      (thrown: unknown) => {
        if (end.signal.aborted) return;
        const problem = problemOf(thrown);
        // What was read for another key is no answer to this one.
        setState(({ data }) => ({
          ...(data !== undefined && known.current === key && { data }),
          problem,
          isLoading: false,
        }));
        if (AWAY.includes(problem.status))
          retry = setTimeout(() => {
            setTurn((count) => count + 1);
          }, RETRY_MILLIS);
      },
    );
    return () => {
      end.abort();
      clearTimeout(retry);
    };
  }, [key, turn]);
  const reload = useCallback(() => {
    setTurn((count) => count + 1);
  }, []);
  useEffect(() => {
    if (state.problem?.status === 401) reload();
  }, [renewal]);
  const set = useCallback((data: T) => {
    setState({ data, isLoading: false });
  }, []);
  return { data: state.data, problem: state.problem, isLoading: state.isLoading, reload, set };
}

export interface Action {
  isBusy: boolean;
  problem: Problem | undefined;
  /** @returns whether it succeeded. */
  run: (work: () => Promise<void>) => Promise<boolean>;
  clear: () => void;
}

/** Something that a button does: one at a time, and what the service says against it is kept for the page to show. */
export function useAction(): Action {
  const [state, setState] = useState<{ isBusy: boolean; problem?: Problem }>({ isBusy: false });
  const isBusy = useRef(false);
  const renewal = useStore(renewals);
  const run = useCallback(async (work: () => Promise<void>) => {
    if (isBusy.current) return false;
    isBusy.current = true;
    setState({ isBusy: true });
    try {
      await work();
      setState({ isBusy: false });
      return true;
    } catch (thrown) {
      setState({ isBusy: false, problem: problemOf(thrown) });
      return false;
    } finally {
      isBusy.current = false;
    }
  }, []);
  const clear = useCallback(() => {
    setState({ isBusy: false });
  }, []);
  useEffect(() => {
    if (state.problem?.status === 401) clear(); // it can be done now
  }, [renewal]);
  return { isBusy: state.isBusy, problem: state.problem, run, clear };
}
