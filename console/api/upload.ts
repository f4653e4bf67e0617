import type { components } from './generated.js';
import { ask } from './client.js';

export type Preview = components['schemas']['ImportPreviewDto'];
type Run = components['schemas']['ImportRunDto'];

/** Options of an import by name; those that are '' are not sent. */
export type Options = Readonly<Record<string, string>>;

/** Sends a file as it is: the browser reads it while it sends. @throws Problem as the service describes it. */
async function send<T>(path: string, file: File, options: Options, signal?: AbortSignal): Promise<T> {
  const set = Object.entries(options).filter(([, value]) => value !== '');
  const sent = fetch(`/api/0.3/${path}?${new URLSearchParams(set).toString()}`, {
    method: 'POST',
    body: file,
    credentials: 'same-origin',
    headers: { 'content-type': 'text/csv', 'x-file-name': encodeURIComponent(file.name) },
    ...(signal && { signal }),
  });
  const call = sent.then(async (response) => {
    const body: unknown = await response.json().catch(() => undefined);
    return response.ok ? { data: body as T, response } : { error: body, response };
  });
  return (await ask<T>(call)).data;
}

/** What an import would make of the beginning of a file. Nothing is stored. */
export const previewFile = (file: File, options: Options, signal: AbortSignal): Promise<Preview> =>
  send('imports/preview', file, options, signal);

/** Plans the whole file against the live users, without a write. @returns the run. */
export const planFile = (file: File, options: Options): Promise<Run> =>
  send('imports', file, { ...options, dry_run: 'true' });
