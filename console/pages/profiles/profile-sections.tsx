import { formatOptionValue } from '../../api/options.js';
import type { ComponentChildren } from 'preact';
import { type ProblemError, isPart } from '../../api/problem.js';
import { formatCount } from '../../lib/text.js';
import { ColumnsFields } from './columns-fields.js';
import { type Editing, SECTIONS, type SectionName, countImported, findSources, formatPath } from './draft.js';
import { type Issue, needsEncoding } from './issues.js';
import { FirstRows, Problems, formatOutcomes, groupProblems } from './findings.js';
import { GuardFields } from './guard-fields.js';
import { PeopleFields } from './people-fields.js';
import { ReadingFields } from './reading-fields.js';
import { Section } from './section.js';
import { SettingFields } from './settings-fields.js';
import { WordsFields } from './words-fields.js';

const MORE_SETTINGS = ['part', 'returning', 'mode', 'blank_cells', 'adopt', 'allow_privileged'] as const;

/** Finds the section that contains a field of the profile. */
const findSection = (field: string): SectionName =>
  (['people', 'reading', 'values', 'settings'] as const).find((name) =>
    SECTIONS[name].some((member) => isPart(field, member)),
  ) ?? 'columns';

interface SectionsProps {
  editing: Editing;
  issues: readonly Issue[];
  /** Problems of the last preview and of the last attempt to save. */
  problems: readonly (ProblemError | undefined)[];
  /** True if all sections are open, as in an empty profile. */
  isOpen?: boolean;
}

/** All sections of a profile. A section without open tasks is folded. */
export function ProfileSections({ editing, issues, problems, isOpen = false }: SectionsProps) {
  const { preview } = editing;
  const errors = problems.flatMap((problem) => problem?.errors ?? []);
  const listTexts = (name: SectionName): string[] => [
    ...issues.filter(({ section }) => section === name).map(({ text }) => text),
    ...errors
      .filter(({ field }) => findSection(field) === name)
      .map(({ field, message }) => `${formatPath(field.split('.'))} ${message}.`),
  ];
  return (
    <>
      {LIST.map(({ name, title, format, Fields }) => (
        <Section key={name} title={title} summary={format(editing)} isOpen={isOpen} issues={listTexts(name)}>
          <Fields editing={editing} />
        </Section>
      ))}
      {preview && !needsEncoding(preview) && (
        <Section
          title="First rows"
          summary={formatOutcomes(preview)}
          isOpen={isOpen || (!editing.isSuggesting && groupProblems(preview).length > 0)}
        >
          <Problems preview={preview} />
          <FirstRows preview={preview} />
        </Section>
      )}
    </>
  );
}

/** Settings of the imports that use the profile, and the limits of their guards. */
const OptionFields = ({ editing }: { editing: Editing }) => (
  <>
    <SettingFields names={['dataset', 'missing', 'pattern']} editing={editing} />
    <details>
      <summary>More settings</summary>
      <SettingFields names={MORE_SETTINGS} editing={editing} />
    </details>
    <GuardFields editing={editing} />
  </>
);

function formatReading({ draft, preview }: Editing): string {
  const encoding = preview?.encoding ?? draft.encoding ?? 'utf-8';
  const delimiter = preview?.delimiter ?? draft.delimiter ?? 'detected';
  const skipped = (draft.skip_lines ?? 0) + (draft.skip_last_lines ?? 0);
  return [
    needsEncoding(preview) ? 'Choose an encoding' : `Encoding ${encoding}`,
    `delimiter ${formatOptionValue('delimiter', delimiter.replace('\t', 'tab')).toLowerCase()}`,
    ...(skipped > 0 ? [`${formatCount(skipped, 'line')} skipped`] : []),
  ].join(', ');
}

interface SectionEntry {
  name: SectionName;
  title: string;
  /** Formats the settings that apply, for the folded section. */
  format: (editing: Editing) => string;
  Fields: (props: { editing: Editing }) => ComponentChildren;
}

const LIST: readonly SectionEntry[] = [
  { name: 'reading', title: 'Reading', format: formatReading, Fields: ReadingFields },
  {
    name: 'columns',
    title: 'Columns',
    format: (editing) => `${formatCount(countImported(editing), 'column')} imported`,
    Fields: ColumnsFields,
  },
  {
    name: 'values',
    title: 'Values',
    format: ({ draft }) =>
      `${formatCount(Object.values(draft.values ?? {}).flatMap(Object.keys).length, 'word')} replaced${draft.active_until ? `, active until ${draft.active_until}` : ''}`,
    Fields: WordsFields,
  },
  {
    name: 'people',
    title: 'People',
    format: ({ draft }) =>
      `Username: ${draft.set?.['Username'] ?? findSources(draft, 'Username').join(', ')}`,
    Fields: PeopleFields,
  },
  {
    name: 'settings',
    title: 'Settings',
    format: ({ draft: { dataset = 'default', missing = 'keep', pattern = 'of any name' } }) =>
      `Data set ${dataset}, files ${pattern}, missing users ${formatOptionValue('missing', missing).toLowerCase()}`,
    Fields: OptionFields,
  },
];
