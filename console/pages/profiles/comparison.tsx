import { useResource } from '../../api/resource.js';
import { setQuery, useUrl } from '../../lib/url.js';
import { Button } from '../../parts/button.js';
import { SelectField, toChoices } from '../../parts/field.js';
import { Card } from '../../parts/page.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Table } from '../../parts/table.js';
import { type Draft, type Difference, formatPath, listDifferences } from './draft.js';
import { type VersionedProfile, loadProfile, loadProfiles } from './profiles.js';

const NOT_SET = <span class="none">not set</span>;

/** Lists the settings that differ between two profiles. */
export const Differences = (props: {
  caption: string;
  differences: readonly Difference[];
  /** Names of the two profiles. The first name is empty if the profile is new. */
  titles: readonly [old: string, changed: string];
}) => (
  <Table
    caption={props.caption}
    rows={props.differences}
    getKey={({ path }) => JSON.stringify(path)}
    empty="No differences."
    columns={[
      { name: 'setting', title: 'Setting', cell: ({ path }) => formatPath(path) },
      ...(props.titles[0]
        ? [{ name: 'old', title: props.titles[0], cell: ({ old }: Difference) => old ?? NOT_SET }]
        : []),
      { name: 'new', title: props.titles[1], cell: (each) => each.new ?? NOT_SET },
    ]}
  />
);

interface ComparisonProps {
  name: string;
  draft: Draft;
  /** True if someone else has changed the saved profile. The draft is then compared with it. */
  hasConflict: boolean;
  /** Called to overwrite the saved version with the draft. */
  onReplace: (etag: string) => void;
  /** Called to replace the draft with the saved version. */
  onLoad: (saved: VersionedProfile) => void;
}

/** Compares the draft with the profile in the query parameter `compare`, or with a version that someone else has saved. */
export function Comparison({ name, draft, hasConflict, onReplace, onLoad }: ComparisonProps) {
  const { query } = useUrl();
  const other = hasConflict ? name : (query.get('compare') ?? '');
  const names = useResource('profiles', loadProfiles).data?.map((each) => each.name) ?? [];
  const { data, problem } = useResource(other ? `${other} ${hasConflict}` : undefined, (signal) =>
    loadProfile(other, signal),
  );
  return (
    <Card title={hasConflict ? 'The saved version differs from yours' : 'Compare'}>
      {!hasConflict && (
        <SelectField
          name="compare"
          label="Compare with another profile"
          value={other}
          choices={[{ value: '', text: 'None' }, ...toChoices(names.filter((each) => each !== name))]}
          onValue={(compare) => setQuery({ compare }, { replace: true })}
        />
      )}
      <ProblemNote problem={problem} />
      {data?.name === other && (
        <Differences
          caption={`Differences from ${other}`}
          differences={listDifferences(data.profile, draft)}
          titles={[hasConflict ? 'Saved by someone else' : other, 'This draft']}
        />
      )}
      {data && hasConflict && (
        <div class="buttons end">
          <Button text="Load the saved version" onClick={() => onLoad(data)} />
          <Button text="Replace it with this draft" kind="danger" onClick={() => onReplace(data.etag)} />
        </div>
      )}
    </Card>
  );
}
