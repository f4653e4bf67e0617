import { VALUES } from '../../api/options.js';
import { useResource } from '../../api/resource.js';
import { toHref } from '../../lib/url.js';
import { LinkButton } from '../../parts/button.js';
import { ConfirmButton } from '../../parts/dialog.js';
import { Page } from '../../parts/page.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { countImported } from './draft.js';
import { type Profile, deleteProfile, loadProfiles, toProfileHref } from './profiles.js';

/** The list of import profiles. */
export function ProfilesPage() {
  const { data, problem, isLoading, reload } = useResource('profiles', loadProfiles);
  return (
    <Page
      title="Profiles"
      lead="A profile defines how files from one source are read."
      actions={<LinkButton text="New profile" isPrimary href={toHref('/profiles/new')} />}
    >
      <ProblemNote problem={problem} />
      <Table
        caption="Profiles"
        columns={buildColumns(reload)}
        rows={data ?? []}
        getKey={({ name }) => name}
        isLoading={isLoading}
        hasFailed={problem !== undefined && !data}
      />
    </Page>
  );
}

const buildColumns = (onClose: () => void): readonly Column<Profile>[] => [
  {
    title: 'Name',
    cell: ({ name, ready }) => (
      <span>
        <a href={toProfileHref(name)}>{name}</a>
        {ready && <span class="muted small"> · built in</span>}
      </span>
    ),
  },
  { title: 'Data set', cell: ({ profile }) => profile.dataset },
  {
    title: 'Columns',
    isNumber: true,
    cell: ({ profile }) => countImported({ draft: profile, preview: undefined }),
  },
  { title: 'Missing users', cell: ({ profile: { missing } }) => VALUES.missing[missing] },
  { title: 'File pattern', cell: ({ profile }) => profile.pattern && <code>{profile.pattern}</code> },
  { title: 'Saved', cell: ({ updated }) => updated && <Time at={updated} /> },
  {
    title: 'Actions',
    cell: ({ name, ready, profile: { pattern } }) => (
      <span class="buttons">
        <LinkButton text="Import a file" href={toHref('/imports/new', { profile: name })} />
        {!ready && (
          <ConfirmButton
            text="Delete"
            title={`Delete ${name}`}
            isDangerous
            onClose={onClose}
            work={(reason) => deleteProfile(name, reason)}
            successText={`Profile ${name} deleted.`}
          >
            <p>
              {pattern
                ? `Files that match ${pattern} will be read without this profile and may be rejected.`
                : 'Imports that use this profile will be rejected.'}
            </p>
          </ConfirmButton>
        )}
      </span>
    ),
  },
];
