import { api, ask } from './client.js';
import type { components, paths } from './generated.js';

export type Preview = components['schemas']['ImportPreviewDto'];
type Run = components['schemas']['ImportRunDto'];
type Query = NonNullable<paths['/api/0.3/imports']['post']['parameters']['query']>;

/** Options of an import by name; those that are '' are not sent. */
export type Options = Readonly<Record<string, string>>;

/** A file as the body of a request: the browser reads it while it sends. */
const sent = (file: File, options: Options) => ({
  params: { query: Object.fromEntries(Object.entries(options).filter(([, value]) => value !== '')) as Query },
  body: file as never, // the generated type knows the text of a file, and forms
  bodySerializer: (body: unknown) => body as File,
  headers: { 'content-type': 'text/csv', 'x-file-name': encodeURIComponent(file.name) },
});

/** What an import would make of the beginning of a file. Nothing is stored. */
export async function previewFile(file: File, options: Options, signal: AbortSignal): Promise<Preview> {
  return (await ask(api.POST('/api/0.3/imports/preview', { ...sent(file, options), signal }))).data;
}

/** Plans the whole file against the live users, without a write. @returns the run. */
export async function planFile(file: File, options: Options): Promise<Run> {
  return (await ask(api.POST('/api/0.3/imports', sent(file, { ...options, dry_run: 'true' })))).data;
}
