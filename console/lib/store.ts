import { useLayoutEffect, useState } from 'preact/hooks';

/** A value that notifies its subscribers of changes. */
export type Store<T> = ReturnType<typeof createStore<T>>;

export function createStore<T>(initial: T) {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set: (value: T): void => {
      current = value;
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Returns the value of a store and renders again when it changes. */
export function useStore<T>(from: Store<T>): T {
  const value = from.get();
  const [, render] = useState({});
  useLayoutEffect(() => {
    const rerender = (): void => render({});
    if (from.get() !== value) rerender(); // changed after the rendering
    return from.subscribe(rerender);
  }, [from]);
  return value;
}
