import { useState } from 'preact/hooks';
import { ProblemError } from '../../api/problem.js';
import { useAction, useResource } from '../../api/resource.js';
import { showFileName } from '../../lib/text.js';
import { useUnsavedWarning } from '../../lib/unsaved.js';
import { navigate, toHref, useUrl } from '../../lib/url.js';
import { Button, LinkButton } from '../../parts/button.js';
import { DropZone } from '../../parts/drop-zone.js';
import { TextField } from '../../parts/field.js';
import { Page } from '../../parts/page.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { showToast } from '../../parts/toast.js';
import { Comparison, Differences } from './comparison.js';
import { type Draft, isPreviewable, listDifferences } from './draft.js';
import { listIssues } from './issues.js';
import { ProfileSections } from './profile-sections.js';
import { type VersionedProfile, loadProfile, saveProfile, toProfileHref } from './profiles.js';
import { useDraft } from './use-draft.js';

/** The page of a profile. Without a name, the page for a new profile, which may start as a copy (parameter `from`). */
export function ProfilePage({ params: { name } }: { params: Record<string, string> }) {
  const { query } = useUrl();
  const shown = name ?? query.get('from') ?? '';
  const { data, problem, set } = useResource(shown || undefined, (signal) => loadProfile(shown, signal));
  if (shown === '' || data?.name === shown)
    return <Editor key={name ?? ''} isNew={name === undefined} profile={data} onSaved={set} />;
  return (
    <Page title={name ?? 'New profile'}>
      <ProblemNote problem={problem} />
    </Page>
  );
}

interface EditorProps {
  isNew: boolean;
  /** The profile to edit or to copy. */
  profile: VersionedProfile | undefined;
  onSaved: (profile: VersionedProfile) => void;
}

/** Edits a profile. A sample file shows how its rows are read. */
function Editor({ isNew, profile, onSaved }: EditorProps) {
  const [name, setName] = useState(isNew ? profile && `${profile.name}-copy` : profile?.name);
  const [file, setFile] = useState<File>();
  const action = useAction();
  const editing = useDraft(file, profile?.profile, action.problem);
  const { draft, isChanged, problem } = editing;
  const isReadOnly = !isNew && profile?.ready === true;
  useUnsavedWarning(isChanged && !isReadOnly);
  const issues = listIssues(editing);
  const hint = isReadOnly
    ? 'This profile is built in. Copy it to change it.'
    : !name
      ? 'Enter a name for the profile.'
      : (issues.find(({ blocks }) => blocks)?.text ?? (isChanged || isNew ? '' : 'No unsaved changes.'));
  const save = (etag: string | undefined) =>
    action.run(async () => {
      const saved = await saveProfile(name ?? '', draft, etag);
      showToast(`Profile ${saved.name} saved.`);
      editing.replace(saved.profile);
      onSaved(saved);
      if (isNew) navigate(toProfileHref(saved.name), { replace: true });
    });
  const choose = async (chosen: File): Promise<void> => {
    if (!chosen.name.endsWith('.json')) setFile(chosen);
    else editing.replace(await readProfile(chosen), true);
  };
  return (
    <Page
      title={isNew ? 'New profile' : (profile?.name ?? '')}
      lead={<span id="save-hint">{hint}</span>}
      actions={
        <>
          {profile && !isNew && (
            <LinkButton text="Copy" href={toHref('/profiles/new', { from: profile.name })} />
          )}
          <LinkButton text="Download" download={`${name ?? 'profile'}.json`} href={toDownload(draft)} />
          {!isReadOnly && (
            <Button
              text="Save"
              kind="primary"
              isBusy={action.isBusy || !name || !isPreviewable(draft)}
              describedBy="save-hint"
              onClick={() => void (name && save(isNew ? undefined : profile?.etag))}
            />
          )}
        </>
      }
    >
      <div class="stack">
        <ProblemNote problem={action.problem} />
        {isNew && (
          <TextField
            name="name"
            value={name ?? ''}
            onValue={setName}
            hint="Letters, digits and . _ - only."
            input={{ required: true, maxLength: 64, autocomplete: 'off' }}
          />
        )}
        {isReadOnly ? (
          <Differences
            caption="Settings"
            differences={listDifferences(undefined, draft)}
            titles={['', 'Value']}
          />
        ) : (
          <>
            <DropZone
              text={
                file
                  ? `${showFileName(file.name)}: the first rows are below.`
                  : 'Drop a CSV file here to see how its rows are read, or a profile in JSON to load it.'
              }
              onFiles={([chosen]) => void action.run(() => choose(chosen))}
            />
            {problem && problem.errors.length === 0 && <ProblemNote problem={problem} />}
            <ProfileSections
              editing={editing}
              issues={file ? issues : []}
              problems={[action.problem, problem]}
              isOpen
            />
          </>
        )}
        <Comparison
          name={name ?? ''}
          draft={draft}
          hasConflict={!isNew && action.problem?.status === 412}
          onReplace={(etag) => void save(etag)}
          onLoad={(theirs) => {
            action.clear();
            editing.replace(theirs.profile);
            onSaved(theirs);
          }}
        />
      </div>
    </Page>
  );
}

/** Returns a URL from which the browser saves a profile as JSON. */
const toDownload = (draft: Draft): string =>
  `data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify(draft, null, 2))}`;

async function readProfile(file: File): Promise<Draft> {
  const document = (await file
    .text()
    .then(JSON.parse)
    .catch(() => undefined)) as Partial<Draft> | undefined;
  if (typeof document?.columns === 'object') return document as Draft;
  const title = `${showFileName(file.name)} is not a profile in JSON`;
  throw new ProblemError(0, { code: 'console', title, detail: 'Choose a file that was downloaded here.' });
}
