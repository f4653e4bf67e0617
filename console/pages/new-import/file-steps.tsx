import { useEffect, useState } from 'preact/hooks';
import type { Run } from '../../api/client.js';
import type { ProblemError } from '../../api/problem.js';
import { useResource } from '../../api/resource.js';
import { planFile } from '../../api/upload.js';
import { useUnsavedWarning } from '../../lib/unsaved.js';
import { Button } from '../../parts/button.js';
import { CheckField, SelectField, TextField, toChoices } from '../../parts/field.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Differences } from '../profiles/comparison.js';
import { isOption, listDifferences, listNeededSettings, toOptions } from '../profiles/draft.js';
import { listIssues } from '../profiles/issues.js';
import { ProfileSections } from '../profiles/profile-sections.js';
import { type Profile, type VersionedProfile, loadProfile, saveProfile } from '../profiles/profiles.js';
import { Section } from '../profiles/section.js';
import { useDraft } from '../profiles/use-draft.js';

export interface FileState {
  /** Reason why no plan can be created. Empty if the file is ready. */
  blocker: string;
  /** Number of open tasks. */
  tasks: number;
  /** Data set and part of the file. */
  dataset: string;
  /** Saves the profile if necessary, then creates the plan. */
  plan: () => Promise<Run>;
}

interface FileStepsProps {
  file: File;
  /** Name of the chosen profile. Empty for none. */
  profileName: string;
  profiles: readonly Profile[];
  isShown: boolean;
  isPlanned: boolean;
  /** Data sets of the other files, if there are several. */
  otherDatasets?: readonly (string | undefined)[];
  /** Problem of the last attempt to create the plan. */
  problem: ProblemError | undefined;
  /** Called with another profile for this file, or for all files without a plan. */
  onProfile: (name: string, isForAll?: boolean) => void;
  onState: (state: FileState) => void;
}

const BLOCKS_OTHERS =
  'Another file has the same data set. This import would block the users who are only in the other file. Give each file its own part.';

/** The steps of one file, after its profile has been loaded. */
export function FileSteps(props: FileStepsProps) {
  const { profileName, isShown } = props;
  const { data, problem } = useResource(profileName || undefined, (signal) =>
    loadProfile(profileName, signal),
  );
  if (profileName === '' || data) return <LoadedFileSteps {...props} profile={data} />;
  return isShown ? <ProblemNote problem={problem} /> : null;
}

function LoadedFileSteps(props: FileStepsProps & { profile: VersionedProfile | undefined }) {
  const { file, profile, profiles, isShown, isPlanned, otherDatasets, onProfile, onState } = props;
  /** The saved profile that the draft changes. Undefined for a new or built-in profile. */
  const [own, setOwn] = useState(profile?.ready ? undefined : profile);
  const [name, setName] = useState(own?.name ?? '');
  const [isKept, setKept] = useState(false);
  const editing = useDraft(file, profile?.profile, props.problem);
  const { draft, preview, problem, isLoading, isSuggesting, isChanged } = editing;
  const dataset = [draft.dataset, draft.part].join(':');
  const issues = listIssues(editing);
  if (otherDatasets?.includes(dataset) && draft.missing === 'block')
    issues.push({ section: 'settings', blocks: false, text: BLOCKS_OTHERS });
  const differences = profile
    ? listDifferences(own?.profile ?? profile.profile, draft)
    : listNeededSettings(draft);
  const isOptional = differences.every(({ path: [member = ''] }) => isOption(member));
  const isSaved = !isOptional || isKept || (!profile && name !== '');
  const unsaved = profile ? `Uses the profile ${profile.name}` : 'No profile is saved';
  const summary = isSaved ? `Will be saved as the profile ${name}` : unsaved;
  const later = draft.pattern ? `in the drop folder that matches ${draft.pattern}` : 'of this source';
  const blocker =
    issues.find(({ blocks }) => blocks)?.text ??
    (problem && `${problem.message}. ${problem.detail}`) ??
    (isSaved && name === '' ? 'Enter a name for the profile under Plan.' : undefined) ??
    (!preview || isLoading || isSuggesting ? 'Reading the file…' : '');
  const plan = async (): Promise<Run> => {
    if (!isSaved) {
      const changed = profile && differences.map(({ path: [member = ''] }) => member);
      return planFile(file, { ...toOptions(draft, changed), ...(profile && { profile: profile.name }) });
    }
    const result = await saveProfile(name, draft, own?.name === name ? own.etag : undefined);
    setOwn(result);
    return planFile(file, { profile: name });
  };
  useUnsavedWarning(isChanged && !isPlanned);
  const tasks = issues.length;
  useEffect(() => onState({ blocker, tasks, dataset, plan }), [blocker, tasks, name, draft, isKept, own]);
  useEffect(() => {
    if (!isOptional && name === '') setName(draft.dataset ?? '');
  }, [isOptional, draft.dataset]);
  if (!isShown || isPlanned) return null;
  return (
    <>
      <Section title="Profile" summary={profile?.name ?? 'None'}>
        <SelectField
          name="profile"
          value={profile?.name ?? ''}
          choices={[
            { value: '', text: 'None: suggest how to read the file' },
            ...toChoices(profiles.map((each) => each.name)),
          ]}
          onValue={onProfile}
        />
        {otherDatasets && (
          <div class="buttons">
            <Button text="Use this choice for all files" onClick={() => onProfile(props.profileName, true)} />
          </div>
        )}
      </Section>
      {problem && problem.errors.length === 0 && <ProblemNote problem={problem} />}
      <ProfileSections editing={editing} issues={issues} problems={[props.problem, problem]} />
      <Section title="Plan" summary={summary} isOpen>
        <TextField
          name="profile_name"
          label={isSaved ? 'Save as profile' : 'Save as profile (optional)'}
          hint={`The next file ${later} then needs no further settings.`}
          value={name}
          onValue={setName}
          input={{ maxLength: 64, autocomplete: 'off' }}
        />
        {profile && isOptional && differences.length > 0 && (
          <CheckField
            name="keep"
            label="Save the overridden settings in the profile, not only for this import"
            value={isKept}
            onValue={setKept}
          />
        )}
        {profile && (
          <Differences
            caption="Overridden settings"
            differences={differences}
            titles={[profile.name, 'This import']}
          />
        )}
      </Section>
    </>
  );
}
