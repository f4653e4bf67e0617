import { useState } from 'preact/hooks';
import { useAction, useResource } from '../../api/resource.js';
import { type Options, planFile, previewFile } from '../../api/upload.js';
import { go, href, setQuery, usePlace } from '../../lib/place.js';
import { Card, Page } from '../../parts/page.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { ColumnsCard } from './columns-card.js';
import { DropZone } from './drop-zone.js';
import { FirstRows, Problems } from './findings.js';
import { loadProfiles } from '../profiles/profiles.js';
import { Settings } from './settings.js';

const OPTIONS = ['profile', 'dataset', 'missing', 'mode', 'encoding', 'delimiter'];
const DELIMITERS: Readonly<Record<string, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'pipe',
};

/** The page for uploading a file, checking its preview, mapping its columns and creating the plan. */
export function NewImportPage() {
  const { query } = usePlace();
  const [file, setFile] = useState<File>();
  const options: Options = Object.fromEntries(OPTIONS.map((name) => [name, query.get(name) ?? '']));
  const profiles = useResource('profiles', loadProfiles);
  const [turn, setTurn] = useState(0);
  const key = file && [file.name, file.size, file.lastModified, turn, ...Object.values(options)].join();
  const preview = useResource(key, (signal) =>
    file ? previewFile(file, options, signal) : Promise.reject(new Error('no file')),
  );
  const plan = useAction();
  const found = file && preview.data;
  const isRefused = found?.problems.some(({ refuses }) => refuses) ?? true;
  const isReady = file !== undefined && !isRefused && !preview.isLoading;
  const hint =
    found && isRefused
      ? 'The file would be rejected. Assign its columns or check the problems below.'
      : 'No user is changed before you have reviewed the plan.';
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
                go(href(`/imports/${(await planFile(file, options)).id}`));
              })
            )
          }
        >
          {plan.isBusy ? 'Uploading …' : 'Create plan'}
        </button>
      }
    >
      <div class="stack">
        <DropZone file={file} onFile={setFile} />
        <ProblemNote problem={plan.problem} />
        <Card title="Import options">
          <Settings
            options={options}
            profiles={(profiles.data ?? []).map(({ name }) => name)}
            onOption={(name, value) => {
              setQuery({ [name]: value }, { replace: true });
            }}
          />
        </Card>
        <ProblemNote problem={file && preview.problem} />
        {found && (
          <>
            <p class="muted" role="status">
              Encoding {found.encoding ?? 'unknown'}, delimiter{' '}
              {found.delimiter === null ? 'unknown' : (DELIMITERS[found.delimiter] ?? found.delimiter)}.
            </p>
            <ColumnsCard
              file={file}
              preview={found}
              options={options}
              base={profiles.data?.find(({ name }) => name === options['profile'])}
              onSaved={(name) => {
                profiles.reload();
                setTurn(turn + 1);
                setQuery({ profile: name }, { replace: true });
              }}
            />
            <Problems preview={found} />
            <FirstRows preview={found} />
          </>
        )}
      </div>
    </Page>
  );
}
