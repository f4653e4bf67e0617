import { type Run, api, unwrap } from './client.js';
import type { components, paths } from './generated.js';

export type Preview = components['schemas']['ImportPreviewDto'];
type Query = NonNullable<paths['/api/0.3/imports']['post']['parameters']['query']>;

/** Options of an import by name. Empty options are not sent. */
export type Options = Readonly<Record<string, string>>;

/** Bytes of a file that a preview needs. One byte more than the service reads shows that the file continues. */
const PREVIEW_BYTES = 1024 * 1024 + 1;

/** Builds a raw request body, such as a file. The generated types allow only text. */
const toBody = (body: File | FormData) => ({ body: body as never, bodySerializer: () => body });

/** Uploads a file into the drop folder of the schedule. */
export async function addScheduledFile(file: File): Promise<void> {
  const form = new FormData();
  form.set('file', file);
  const headers = { 'x-file-name': encodeURIComponent(file.name) }; // marks a body that is not text
  await unwrap(api.POST('/api/0.3/imports/schedule/files', { ...toBody(form), headers }));
}

/** Previews the start of a file. Nothing is stored. @param parts options, and a profile that need not be saved. */
export async function previewFile(file: File, parts: Options, signal: AbortSignal): Promise<Preview> {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts)) if (value !== '') form.append(name, value);
  form.append('file', file.slice(0, PREVIEW_BYTES), file.name);
  return (await unwrap(api.POST('/api/0.3/imports/preview', { ...toBody(form), signal }))).data;
}

/** Starts the import of a file, which the browser streams. @returns the new run. */
export async function importFile(file: File, options: Options): Promise<Run> {
  const set = Object.entries(options).filter(([, value]) => value !== '');
  const request = {
    params: { query: Object.fromEntries(set) as Query },
    ...toBody(file),
    headers: { 'content-type': 'text/csv', 'x-file-name': encodeURIComponent(file.name) },
  };
  return (await unwrap(api.POST('/api/0.3/imports', request))).data;
}

/** Plans the import of a file without changing users. @returns the run with the plan. */
export const planFile = (file: File, options: Options): Promise<Run> =>
  importFile(file, { ...options, dry_run: 'true' });
