import { useState } from 'preact/hooks';
import { useAction, useResource } from '../../api/resource.js';
import { type Options, planFile, previewFile } from '../../api/upload.js';
import { navigate, toHref, setQuery, useUrl } from '../../lib/url.js';
import { Card, Page } from '../../parts/page.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { ColumnsCard } from './columns-card.js';
import { DropZone } from './drop-zone.js';
import { FirstRows, Problems } from './findings.js';
import { loadProfiles } from '../profiles/profiles.js';
import { ImportOptions } from './import-options.js';

const OPTIONS = ['profile', 'dataset', 'missing', 'mode', 'encoding', 'delimiter'];
const DELIMITERS: Readonly<Record<string, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'pipe',
};

/** The page for uploading a file, checking its preview, mapping its columns and creating the plan. */
export function NewImportPage() {
  const { query } = useUrl();
  const [file, setFile] = useState<File>();
  const options: Options = Object.fromEntries(OPTIONS.map((name) => [name, query.get(name) ?? '']));
  const profiles = useResource('profiles', loadProfiles);
  const [refreshCount, setRefreshCount] = useState(0);
  const key =
    file && [file.name, file.size, file.lastModified, refreshCount, ...Object.values(options)].join();
  const preview = useResource(key, (signal) =>
    file ? previewFile(file, options, signal) : Promise.reject(new Error('no file')),
  );
  const plan = useAction();
  const previewData = file && preview.data;
  const isRejected = previewData?.problems.some(({ refuses }) => refuses) ?? true;
  const isReady = file !== undefined && !isRejected && !preview.isLoading;
  const hint =
    previewData && isRejected
      ? 'The file would be rejected. Assign its columns or check the problems below.'
      : 'No users are changed until you have reviewed the plan.';
  return (
    <Page
      title="New import"
      lead={<span id="plan-hint">{hint}</span>}
      actions={
        <button
          type="button"
          class="primary"
          aria-disabled={!isReady || plan.isBusy}
          aria-describedby="plan-hint"
          onClick={() =>
            void (
              isReady &&
              plan.run(async () => {
                navigate(toHref(`/imports/${(await planFile(file, options)).id}`));
              })
            )
          }
        >
          {plan.isBusy ? 'Uploading…' : 'Create plan'}
        </button>
      }
    >
      <div class="stack">
        <DropZone file={file} onFile={setFile} />
        <ProblemNote problem={plan.problem} />
        <Card title="Import options">
          <ImportOptions
            options={options}
            profiles={(profiles.data ?? []).map(({ name }) => name)}
            onOption={(name, value) => {
              setQuery({ [name]: value }, { replace: true });
            }}
          />
        </Card>
        <ProblemNote problem={file && preview.problem} />
        {previewData && (
          <>
            <p class="muted" role="status">
              Encoding {previewData.encoding ?? 'unknown'}, delimiter{' '}
              {previewData.delimiter === null
                ? 'unknown'
                : (DELIMITERS[previewData.delimiter] ?? previewData.delimiter)}
              .
            </p>
            <ColumnsCard
              file={file}
              preview={previewData}
              options={options}
              base={profiles.data?.find(({ name }) => name === options['profile'])}
              onSaved={(name) => {
                profiles.reload();
                setRefreshCount(refreshCount + 1);
                setQuery({ profile: name }, { replace: true });
              }}
            />
            <Problems preview={previewData} />
            <FirstRows preview={previewData} />
          </>
        )}
      </div>
    </Page>
  );
}
