import type { Answer } from './client.js';

/** Returns every field error of a response as `field code`, sorted. */
export function formatFieldErrors({ body }: Answer): string[] {
  const errors = (body.errors ?? []) as { field: string; code: string }[];
  return errors.map(({ field, code }) => `${field} ${code}`).sort();
}

/** Returns status and field errors of a refused request, or status and code if it has no field errors. */
export function refusalOf(response: Answer): [number, ...string[]] {
  const fields = formatFieldErrors(response);
  return fields.length > 0 ? [response.status, ...fields] : [response.status, String(response.body?.code)];
}
