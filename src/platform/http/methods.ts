const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether the method of a request changes nothing (RFC 9110, section 9.2.1). */
export function isSafe({ method }: { method: string }): boolean {
  return SAFE.has(method);
}
