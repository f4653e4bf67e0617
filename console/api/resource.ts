import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Problem, problemOf } from './problem.js';

export interface Resource<T> {
  /** What was read last, also while the next is read: a page does not flicker. */
  data: T | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  reload: () => void;
  set: (data: T) => void;
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
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (key === undefined) return undefined;
    const end = new AbortController();
    setState(({ data }) => ({ ...(data !== undefined && { data }), isLoading: true }));
    latest.current(end.signal).then(
      (data) => {
        if (!end.signal.aborted) setState({ data, isLoading: false });
      },
      (thrown: unknown) => {
        if (end.signal.aborted) return;
        setState(({ data }) => ({
          ...(data !== undefined && { data }),
          problem: problemOf(thrown),
          isLoading: false,
        }));
      },
    );
    return () => {
      end.abort();
    };
  }, [key, turn]);
  const reload = useCallback(() => {
    setTurn((count) => count + 1);
  }, []);
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
  const run = useCallback(async (work: () => Promise<void>) => {
    setState({ isBusy: true });
    try {
      await work();
      setState({ isBusy: false });
      return true;
    } catch (thrown) {
      setState({ isBusy: false, problem: problemOf(thrown) });
      return false;
    }
  }, []);
  const clear = useCallback(() => {
    setState({ isBusy: false });
  }, []);
  return { isBusy: state.isBusy, problem: state.problem, run, clear };
}
