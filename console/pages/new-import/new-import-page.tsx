import { useEffect, useState } from 'preact/hooks';
import type { Run } from '../../api/client.js';
import { useRunEvents } from '../../api/events.js';
import { useAction, useResource } from '../../api/resource.js';
import { formatCount, formatSize, showFileName } from '../../lib/text.js';
import { navigate, setQuery, toHref, useUrl } from '../../lib/url.js';
import { Button } from '../../parts/button.js';
import { DropZone } from '../../parts/drop-zone.js';
import { Page } from '../../parts/page.js';
import { StatePill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Table } from '../../parts/table.js';
import { findProfileFor, loadProfiles } from '../profiles/profiles.js';
import { FileSteps, type FileState } from './file-steps.js';

/** A chosen file with its state. */
interface Entry {
  id: number;
  file: File;
  /** Name of the chosen profile. Empty for none. Undefined for the profile that fits the name of the file. */
  profile: string | undefined;
  state?: FileState;
  run?: Run;
}

let lastId = 0;

const getBlocker = ({ state }: Entry): string => state?.blocker ?? 'Reading the file…';

/** The page that leads from one or several files to their plans. */
export function NewImportPage() {
  const { query } = useUrl();
  const [chosen, setEntries] = useState<readonly Entry[]>([]);
  const [shownId, setShownId] = useState(0);
  const profiles = useResource('profiles', loadProfiles);
  const entries = chosen.map((entry) => ({
    ...entry,
    profile: entry.profile ?? findProfileFor(entry.file.name, profiles.data ?? []),
  }));
  const action = useAction();
  const update = (id: number, changes: Partial<Entry>): void =>
    setEntries((current) => current.map((entry) => (entry.id === id ? { ...entry, ...changes } : entry)));
  const isSingle = entries.length === 1;
  const pending = entries.filter(({ run }) => !run);
  const blocked = pending.find((entry) => getBlocker(entry) !== '');
  const isReady = pending.length > 0 && !blocked;
  const runs = entries.flatMap(({ run }) => run ?? []);
  const onlyRun = isSingle ? runs[0]?.id : undefined;
  useEffect(() => {
    if (onlyRun) navigate(toHref(`/imports/${onlyRun}`)); // after the page has no unsaved changes any more
  }, [onlyRun]);
  useRunEvents(runs, (run) =>
    setEntries((current) => current.map((entry) => (entry.run?.id === run.id ? { ...entry, run } : entry))),
  );
  const addFiles = (files: readonly File[]): void => {
    const added = files.map((file) => ({ id: ++lastId, file, profile: query.get('profile') ?? undefined }));
    setEntries(isSingle && files.length === 1 ? added : [...chosen, ...added]);
    setShownId(added[0]?.id ?? 0);
  };
  const plan = () =>
    action.run(async () => {
      for (const { id, state } of pending) {
        setShownId(id);
        if (state) update(id, { run: await state.plan() });
      }
    });
  const tasks = pending.reduce((sum, { state }) => sum + (state?.tasks ?? 0), 0);
  const planText = pending.length > 1 ? `Create ${pending.length} plans` : 'Create plan';
  const hint = blocked
    ? `${isSingle ? '' : `${showFileName(blocked.file.name)}: `}${getBlocker(blocked)}`
    : entries.length === 0
      ? 'Choose one or more CSV files.'
      : `No users are changed until you have reviewed the plan.${tasks > 0 ? ` Complete ${formatCount(tasks, 'open task')} below.` : ''}`;
  return (
    <Page
      title="New import"
      lead={<span id="plan-hint">{hint}</span>}
      actions={
        <Button
          text={action.isBusy ? 'Uploading…' : planText}
          kind="primary"
          isBusy={!isReady || action.isBusy}
          describedBy="plan-hint"
          onClick={() => void (isReady && plan())}
        />
      }
    >
      <div class="stack">
        <DropZone
          isMultiple
          text={
            entries.map(({ file }) => `${showFileName(file.name)}, ${formatSize(file.size)}`).join(' · ') ||
            'Drop CSV files here, or'
          }
          onFiles={addFiles}
        />
        <ProblemNote problem={action.problem} />
        {entries.length > 1 && <FileList entries={entries} shownId={shownId} onShow={setShownId} />}
        {entries.map(({ id, file, profile, run }) => (
          <FileSteps
            key={`${id} ${profile}`}
            file={file}
            profileName={profile}
            profiles={profiles.data ?? []}
            isShown={id === shownId}
            isPlanned={run !== undefined}
            problem={id === shownId ? action.problem : undefined}
            onProfile={(name, isForAll) => {
              if (isSingle) setQuery({ profile: name }, { replace: true });
              for (const entry of isForAll ? pending : [{ id }]) update(entry.id, { profile: name });
            }}
            onState={(state) => update(id, { state })}
            {...(!isSingle && {
              otherDatasets: entries.flatMap((each) => (each.id === id ? [] : each.state?.dataset)),
            })}
          />
        ))}
      </div>
    </Page>
  );
}

/** The chosen files with their states. */
const FileList = (props: { entries: readonly Entry[]; shownId: number; onShow: (id: number) => void }) => (
  <Table
    caption="Files"
    rows={props.entries}
    getKey={({ id }) => String(id)}
    columns={[
      {
        title: 'File',
        cell: ({ id, file }) => (
          <button type="button" aria-pressed={id === props.shownId} onClick={() => props.onShow(id)}>
            {showFileName(file.name)}
          </button>
        ),
      },
      { title: 'Profile', cell: ({ profile }) => profile || <span class="none">none</span> },
      {
        title: 'State',
        cell: (entry) =>
          entry.run ? (
            <a href={toHref(`/imports/${entry.run.id}`)} target="_blank" rel="noreferrer">
              <StatePill state={entry.run.state} />
            </a>
          ) : (
            getBlocker(entry) || 'Ready'
          ),
      },
    ]}
  />
);
