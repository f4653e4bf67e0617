import { api, unwrap } from './client.js';
import type { components, paths } from './generated.js';

export type Preview = components['schemas']['ImportPreviewDto'];
type Run = components['schemas']['ImportRunDto'];
type Query = NonNullable<paths['/api/0.3/imports']['post']['parameters']['query']>;

/** Options of an import by name. Empty options are not sent. */
export type Options = Readonly<Record<string, string>>;

/** Builds a request with a file as its body, which the browser streams. */
const buildUpload = (file: File, options: Options) => ({
  params: { query: Object.fromEntries(Object.entries(options).filter(([, value]) => value !== '')) as Query },
  body: file as never, // the generated type allows only text and forms
  bodySerializer: (body: unknown) => body as File,
  headers: { 'content-type': 'text/csv', 'x-file-name': encodeURIComponent(file.name) },
});

/** Uploads a file into the drop folder of the schedule. */
export async function addScheduledFile(file: File): Promise<void> {
  const form = new FormData();
  form.set('file', file);
  await unwrap(
    api.POST('/api/0.3/imports/schedule/files', {
      body: form as never, // the generated type has a text for the file
      bodySerializer: (body: unknown) => body as FormData,
      headers: { 'x-file-name': encodeURIComponent(file.name) }, // marks a body that is not text
    }),
  );
}

/** Previews the import of the start of a file. Nothing is stored. */
export async function previewFile(file: File, options: Options, signal: AbortSignal): Promise<Preview> {
  return (await unwrap(api.POST('/api/0.3/imports/preview', { ...buildUpload(file, options), signal }))).data;
}

/** Plans the import of a file without changing users. @returns the run with the plan. */
export async function planFile(file: File, options: Options): Promise<Run> {
  return (await unwrap(api.POST('/api/0.3/imports', buildUpload(file, { ...options, dry_run: 'true' }))))
    .data;
}
