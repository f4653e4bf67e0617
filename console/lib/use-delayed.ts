import { useEffect, useRef, useState } from 'preact/hooks';

/** Returns a value after it has been stable for the given milliseconds, so that typing does not send a request per key. */
export function useDelayed<T>(value: T, millis: number): T {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), millis);
    return () => clearTimeout(timer);
  }, [value, millis]);
  return delayed;
}

/** Returns a value that changes at most once in the given milliseconds. The first change is not delayed. */
export function useThrottled<T>(value: T, millis: number): T {
  const [throttled, setThrottled] = useState(value);
  const changed = useRef(0);
  useEffect(() => {
    const timer = setTimeout(
      () => {
        changed.current = Date.now();
        setThrottled(value);
      },
      Math.max(0, changed.current + millis - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [value, millis]);
  return throttled;
}
