import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import { toHref } from '../../lib/url.js';
import { Confirm } from '../../parts/dialog.js';
import { Page } from '../../parts/page.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { showToast } from '../../parts/toast.js';
import { type Profile, deleteProfile, loadProfiles, toProfileHref } from './profiles.js';

/** The list of import profiles. */
export function ProfilesPage() {
  const { data, problem, isLoading, reload } = useResource('profiles', loadProfiles);
  const [profileToDelete, setProfileToDelete] = useState<Profile>();
  return (
    <Page
      title="Profiles"
      lead="A profile defines how files from one source are read."
      actions={
        <a class="button primary" href={toHref('/profiles/new')}>
          New profile
        </a>
      }
    >
      <ProblemNote problem={problem} />
      <Table
        caption="Profiles"
        columns={buildColumns(setProfileToDelete)}
        rows={data ?? []}
        getKey={({ name }) => name}
        isLoading={isLoading && !data}
        hasFailed={problem !== undefined && !data}
      />
      {profileToDelete && (
        <Confirm
          title={`Delete ${profileToDelete.name}`}
          confirmLabel="Delete"
          isDangerous
          onClose={() => {
            setProfileToDelete(undefined);
            reload();
          }}
          work={async (reason) => {
            await deleteProfile(profileToDelete.name, reason);
            showToast(`Profile ${profileToDelete.name} deleted.`);
          }}
        >
          <p>
            {profileToDelete.profile.pattern
              ? `Files that match ${profileToDelete.profile.pattern} will be read without this profile and may be rejected.`
              : 'Imports that use this profile will be rejected.'}
          </p>
        </Confirm>
      )}
    </Page>
  );
}

const buildColumns = (onDelete: (profile: Profile) => void): readonly Column<Profile>[] => [
  {
    name: 'name',
    title: 'Name',
    cell: ({ name, ready }) => (
      <span>
        <a href={toProfileHref(name)}>{name}</a>
        {ready && <span class="muted small"> · built in</span>}
      </span>
    ),
  },
  { name: 'dataset', title: 'Data set', cell: ({ profile }) => profile.dataset },
  {
    name: 'columns',
    title: 'Columns',
    isNumber: true,
    cell: ({ profile }) => Object.keys(profile.columns).length,
  },
  { name: 'missing', title: 'Missing users', cell: ({ profile }) => profile.missing },
  {
    name: 'pattern',
    title: 'File pattern',
    cell: ({ profile }) => profile.pattern && <code>{profile.pattern}</code>,
  },
  { name: 'updated', title: 'Saved', cell: ({ updated }) => updated && <Time at={updated} /> },
  {
    name: 'actions',
    title: 'Actions',
    cell: (profile) => (
      <span class="buttons">
        <a class="button" href={toHref('/imports/new', { profile: profile.name })}>
          Import a file
        </a>
        {!profile.ready && (
          <button type="button" onClick={() => onDelete(profile)}>
            Delete
          </button>
        )}
      </span>
    ),
  },
];
