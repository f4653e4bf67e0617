import type { Run, User } from '../api/client.js';
import { formatCode } from '../lib/text.js';

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet';

export const Pill = ({ tone, children }: { tone: Tone; children: string }) => (
  <span class={`pill ${tone}`}>{children}</span>
);

export const StatusPill = ({ status }: { status: User['status'] }) => (
  <Pill tone={status === 'Active' ? 'good' : 'bad'}>{status}</Pill>
);

const TONES: Record<Run['state'], Tone> = {
  queued: 'busy',
  validating: 'busy',
  applying: 'busy',
  planned: 'warn',
  needs_approval: 'warn',
  completed: 'good',
  completed_with_errors: 'warn',
  failed: 'bad',
  cancelled: 'quiet',
  rejected: 'quiet',
  superseded: 'quiet',
};

/** All states of a run. */
export const STATES = Object.keys(TONES);

export const StatePill = ({ state }: { state: Run['state'] }) => (
  <Pill tone={TONES[state]}>{formatCode(state)}</Pill>
);

/** Shows names next to each other. @param none text of an empty list. */
export const Tags = ({ values, none = '' }: { values: readonly string[]; none?: string }) =>
  values.length === 0 && none ? (
    <span class="none">{none}</span>
  ) : (
    <span class="tags">
      {values.map((value) => (
        <span key={value} class="tag">
          {value}
        </span>
      ))}
    </span>
  );
