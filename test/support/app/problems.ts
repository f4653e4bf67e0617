import type { Answer } from './client.js';

/** `field code` of every field error of an answer, in alphabetical order. */
export function fieldErrors({ body }: Answer): string[] {
  const errors = (body.errors ?? []) as { field: string; code: string }[];
  return errors.map(({ field, code }) => `${field} ${code}`).sort();
}

/** The reason of a refusal: status and field errors, or status and code where there are none. */
export function refusal(answer: Answer): [number, ...string[]] {
  const fields = fieldErrors(answer);
  return fields.length > 0 ? [answer.status, ...fields] : [answer.status, String(answer.body?.code)];
}
