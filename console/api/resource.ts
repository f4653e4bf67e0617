import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useStore } from '../lib/store.js';
import { renewals } from './client.js';
import { type Problem, problemOf } from './problem.js';

export interface Resource<T> {
  /** The last loaded data. It stays while new data is loading, so that pages do not flicker. */
  data: T | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  reload: () => void;
  set: (data: T) => void;
}

/** Statuses of an unavailable service, after which requests are retried automatically. */
const AWAY = [0, 502, 503, 504];
const RETRY_MILLIS = 5000;

/** Calls a function at an interval while the page is visible. */
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
 * Loads data from the service, and reloads it when `key` changes. A response to an outdated request is dropped.
 * @param key identifies the data. Nothing is loaded while it is undefined.
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
        // Data of another key is dropped.
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
  /** Runs work unless other work is running. @returns true if it succeeded. */
  run: (work: () => Promise<void>) => Promise<boolean>;
  clear: () => void;
}

/** Runs the work of a button, one run at a time, and provides its state and problem. */
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
    if (state.problem?.status === 401) clear(); // the user has signed in again
  }, [renewal]);
  return { isBusy: state.isBusy, problem: state.problem, run, clear };
}
