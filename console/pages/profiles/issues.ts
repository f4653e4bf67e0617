import type { Preview } from '../../api/upload.js';
import { REQUIRED_COLUMNS } from '../../lib/columns.js';
import { formatCount } from '../../lib/text.js';
import { type Editing, NO_MAIL, type SectionName, type TextMap, countBlanks, isFilled } from './draft.js';

/** Returns true if the file cannot be read in the encoding of the draft, and needs another encoding. */
export const needsEncoding = (preview: Preview | undefined): boolean =>
  preview !== undefined &&
  preview.encodings.length > 0 &&
  preview.problems.some(({ code }) => code === 'bad_encoding');

const NAMES: TextMap = { ExternalId: 'external ID', Username: 'username', Email: 'e-mail address' };
const COLUMN_CODES = ['missing_column', 'unknown_column', 'duplicate_column', 'password_column'];

const NOT_UTF8 =
  'The file is not UTF-8. Under Reading, choose the encoding that shows its letters correctly.';

const MISSING_IGNORED =
  'Users who are missing from the next file keep their access. Choose Blocked if each file lists all users.';

const INVENTED_EMAILS = `All users get invented e-mail addresses. Keep them, or replace ${NO_MAIL} in the template of Email.`;

/** An open task in a section. No plan can be created while a task with `blocks` is open. */
export interface Issue {
  section: SectionName;
  text: string;
  blocks: boolean;
}

export function listIssues({ draft, saved, preview, getOffers, isSuggesting }: Editing): Issue[] {
  const issues: Issue[] = [];
  if (isSuggesting) return issues;
  const add = (section: SectionName, blocks: boolean, text: string) => issues.push({ section, blocks, text });
  if (needsEncoding(preview)) return [{ section: 'reading', blocks: true, text: NOT_UTF8 }];
  for (const name of REQUIRED_COLUMNS) {
    const [blanks, what] = [countBlanks(preview, name), NAMES[name] ?? name];
    const remedy =
      getOffers(name).length > 0
        ? 'Choose a template under People'
        : 'Choose a column or build a value under People';
    if (!isFilled(draft, name) && (name === 'ExternalId' || draft.mode !== 'update_only'))
      add('people', true, `No column is the ${what}. ${remedy}.`);
    else if (blanks > 0)
      add(
        'people',
        false,
        `No ${what} in ${blanks} of the first ${preview?.rows.length ?? 0} rows. Build a value for blank cells under ${name}, or these rows fail.`,
      );
  }
  const email = draft.set?.['Email'] ?? '';
  if (email.endsWith(NO_MAIL) && !email.includes(' || ')) add('people', false, INVENTED_EMAILS);
  const refusals = (preview?.problems ?? []).filter(({ refuses }) => refuses);
  const lines = preview?.skip_lines ?? 0;
  if (lines > (draft.skip_lines ?? 0))
    add('reading', refusals.length > 0, `${formatCount(lines, 'line')} above the header. Skip them.`);
  // Lines above the header cause the other problems of the file.
  for (const { code, message } of lines > 0 ? [] : refusals)
    add(COLUMN_CODES.includes(code) ? 'columns' : 'reading', true, message);
  const unclear = (preview?.words ?? []).flatMap(({ words }) =>
    words.filter(({ meaning }) => meaning === null),
  );
  const count = formatCount(unclear.length, 'word has', 'words have');
  if (unclear.length > 0) add('values', false, `${count} no meaning. Choose one, or these rows fail.`);
  if (preview && !saved && draft.missing === undefined) add('settings', false, MISSING_IGNORED);
  return issues;
}
