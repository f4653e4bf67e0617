import { useEffect, useState } from 'preact/hooks';

/** A value that several parts of the page read, and that tells them when it changes. */
export interface Store<T> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

export function store<T>(initial: T): Store<T> {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set: (value) => {
      current = value;
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The value of a store, and a new rendering when it changes. */
export function useStore<T>(from: Store<T>): T {
  const [, render] = useState({});
  useEffect(
    () =>
      from.subscribe(() => {
        render({});
      }),
    [from],
  );
  return from.get();
}
