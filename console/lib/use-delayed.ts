import { useEffect, useState } from 'preact/hooks';

/** The value, once it has not changed for some milliseconds: what is typed is sent when the reader pauses. */
export function useDelayed<T>(value: T, millis: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSettled(value);
    }, millis);
    return () => {
      clearTimeout(timer);
    };
  }, [value, millis]);
  return settled;
}
