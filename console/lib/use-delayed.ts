import { useEffect, useState } from 'preact/hooks';

/** Returns a value after it has been stable for the given milliseconds, so that typing does not send a request per key. */
export function useDelayed<T>(value: T, millis: number): T {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => {
      setDelayed(value);
    }, millis);
    return () => {
      clearTimeout(timer);
    };
  }, [value, millis]);
  return delayed;
}
