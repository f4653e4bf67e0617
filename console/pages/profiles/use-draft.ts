import { useEffect, useRef, useState } from 'preact/hooks';
import type { ProblemError } from '../../api/problem.js';
import { useResource } from '../../api/resource.js';
import { type Preview, previewFile } from '../../api/upload.js';
import { useThrottled } from '../../lib/use-delayed.js';
import {
  type Draft,
  type Editing,
  addProbableMeanings,
  changeDraft,
  isPreviewable,
  toOptions,
} from './draft.js';

/** Shortest time between two previews of a draft. */
const PREVIEW_MILLIS = 500;
/** Options that a preview without a profile accepts. */
const READING_OPTIONS = ['encoding', 'delimiter'];

const EMPTY: Draft = { columns: {} };
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

interface Answer {
  file: File;
  draft: Draft;
  preview: Preview;
}

export interface DraftState extends Editing {
  isChanged: boolean;
  isLoading: boolean;
  /** Problem of the last preview. */
  problem: ProblemError | undefined;
  /** Replaces the draft. It then counts as unchanged unless `isChange` is true. */
  replace: (draft: Draft, isChange?: boolean) => void;
}

/**
 * Edits a copy of a profile, and previews a sample file with it.
 * @param saved the saved profile. Without one, the service suggests a profile for the file.
 * @param failure problem of the last attempt to save the draft.
 */
export function useDraft(
  file: File | undefined,
  saved: Draft | undefined,
  failure: ProblemError | undefined,
): DraftState {
  const [draft, setDraft] = useState(saved ?? EMPTY);
  /** The draft before the first change. */
  const [origin, setOrigin] = useState(draft);
  /** The last preview, which stays while a draft is invalid, and the last offers for each column. */
  const last = useRef<Answer & { offers: Preview['templates']; answer: Answer }>(undefined);
  const isFresh = !isPreviewable(draft);
  const isChanged = !isSame(draft, origin);
  const name = file && [file.name, file.size, file.lastModified];
  const key = useThrottled(name && JSON.stringify([name, draft]), PREVIEW_MILLIS);
  const { data, problem, isLoading } = useResource(key, async (signal): Promise<Answer> => {
    if (!file) throw new Error('no file');
    const parts = isFresh ? toOptions(draft, READING_OPTIONS) : { profile: JSON.stringify(draft) };
    return { file, draft, preview: await previewFile(file, parts, signal) };
  });
  if (data && data.file === file && last.current?.answer !== data) {
    const { preview } = data;
    const earlier = last.current?.file === file ? last.current : undefined;
    const kept = (earlier?.offers ?? []).filter(({ column }) =>
      preview.templates.every((each) => each.column !== column),
    );
    // The service omits the cells of ignored columns, but an earlier preview without a profile contains these cells.
    const columns = preview.columns.map((column) => {
      const { samples } = earlier?.preview.columns.find(({ source }) => source === column.source) ?? column;
      return column.use === 'ignored' ? { ...column, samples } : column;
    });
    const offers = [...preview.templates, ...kept];
    last.current = { ...data, preview: { ...preview, columns }, offers, answer: data };
  }
  const current = last.current?.file === file ? last.current : undefined;
  // A new profile starts with the suggestion. If the file is not UTF-8, the operator must first choose its encoding.
  const isChosen = !data || data.preview.encodings.length === 0 || draft.encoding !== undefined;
  const mayAdopt = isFresh && !saved && !isChanged && isChosen && isSame(data?.draft, draft);
  const suggestion = mayAdopt ? (data?.preview.suggested as Draft | null | undefined) : undefined;
  useEffect(() => {
    if (suggestion) replace(suggestion);
  }, [suggestion]);
  // Words of a column that has just been mapped start with their probable meanings. A saved profile stays unchanged.
  useEffect(() => {
    if (!data || isFresh || (saved && !isChanged) || !isSame(data.draft, draft)) return;
    const values = addProbableMeanings(draft, data.preview);
    if (values) change({ values });
  }, [data, draft]);
  const replace = (next: Draft, isChange = false): void => {
    setDraft(next);
    if (!isChange) setOrigin(next);
  };
  const change: Editing['change'] = (changes) => setDraft((before) => changeDraft(before, changes));
  return {
    draft,
    saved,
    preview: current?.preview,
    isSuggesting:
      !saved &&
      (isFresh
        ? file !== undefined && (isLoading || !!suggestion)
        : current !== undefined && !isPreviewable(current.draft)),
    getOffers: (column) => (current?.offers ?? []).filter((each) => each.column === column),
    change,
    changeReading: (changes) => {
      if (saved || isChanged) change(changes);
      else replace(changeDraft(EMPTY, { encoding: draft.encoding, delimiter: draft.delimiter, ...changes }));
    },
    getError: (path) => [failure, problem].map((each) => each?.getFieldError(path)).find(Boolean) ?? '',
    isChanged,
    isLoading: file !== undefined && isLoading,
    problem,
    replace,
  };
}
