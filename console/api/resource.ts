import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useStore } from '../lib/store.js';
import { sessionRenewals } from './client.js';
import { type ProblemError, toProblem } from './problem.js';

export interface Resource<T> {
  /** The last loaded data. It stays while new data is loading, so that pages do not flicker. */
  data: T | undefined;
  problem: ProblemError | undefined;
  /** True while the first data or the data of another key is loading. */
  isLoading: boolean;
  reload: () => void;
  set: (data: T) => void;
}

type State<T> = Pick<Resource<T>, 'isLoading'> & { data?: T | undefined; problem?: ProblemError };

/** Statuses of an unavailable service, after which requests are retried automatically. */
const RETRYABLE = [0, 502, 503, 504];
const RETRY_MILLIS = 5000;

/** Calls a function at an interval while the page is visible. */
export function useInterval(millis: number, callback: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) callback();
    }, millis);
    return () => clearInterval(timer);
  }, [millis, callback]);
}

/**
 * Loads data from the service, and reloads it when `key` changes. A response to an outdated request is dropped.
 * @param key identifies the data. Nothing is loaded while it is undefined.
 */
export function useResource<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
): Resource<T> {
  const [state, setState] = useState<State<T>>({ isLoading: true });
  const [reloadCount, setReloadCount] = useState(0);
  const reload = useCallback(() => setReloadCount((count) => count + 1), []);
  const loadedKey = useRef<string | undefined>(undefined);
  const latest = useRef(load);
  const renewalCount = useStore(sessionRenewals);
  latest.current = load;
  useEffect(() => {
    if (key === undefined) return undefined;
    const controller = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    setState(({ data }) => ({ data, isLoading: data === undefined || loadedKey.current !== key }));
    latest.current(controller.signal).then(
      (data) => {
        if (controller.signal.aborted) return;
        loadedKey.current = key;
        setState({ data, isLoading: false });
      },
      (thrown: unknown) => {
        if (controller.signal.aborted) return;
        const problem = toProblem(thrown);
        // Data of another key is dropped.
        setState(({ data }) => ({
          data: loadedKey.current === key ? data : undefined,
          problem,
          isLoading: false,
        }));
        if (RETRYABLE.includes(problem.status)) retry = setTimeout(reload, RETRY_MILLIS);
      },
    );
    return () => {
      controller.abort();
      clearTimeout(retry);
    };
  }, [key, reloadCount]);
  useEffect(() => {
    if (state.problem?.status === 401) reload();
  }, [renewalCount]);
  const set = useCallback((data: T) => setState({ data, isLoading: false }), []);
  return { data: state.data, problem: state.problem, isLoading: state.isLoading, reload, set };
}

export interface Action {
  isBusy: boolean;
  problem: ProblemError | undefined;
  /** Runs work unless other work is running. @returns true if it succeeded. */
  run: (work: () => Promise<void>) => Promise<boolean>;
  clear: () => void;
}

/** Runs the work of a button, one run at a time, and provides its state and problem. */
export function useAction(): Action {
  const [state, setState] = useState<{ isBusy: boolean; problem?: ProblemError }>({ isBusy: false });
  const isBusy = useRef(false);
  const renewalCount = useStore(sessionRenewals);
  const run = useCallback(async (work: () => Promise<void>) => {
    if (isBusy.current) return false;
    isBusy.current = true;
    setState({ isBusy: true });
    try {
      await work();
      setState({ isBusy: false });
      return true;
    } catch (thrown) {
      setState({ isBusy: false, problem: toProblem(thrown) });
      return false;
    } finally {
      isBusy.current = false;
    }
  }, []);
  const clear = useCallback(() => setState({ isBusy: false }), []);
  useEffect(() => {
    if (state.problem?.status === 401) clear(); // the user has signed in again
  }, [renewalCount]);
  return { isBusy: state.isBusy, problem: state.problem, run, clear };
}
