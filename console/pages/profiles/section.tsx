import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { formatCount } from '../../lib/text.js';
import { Pill } from '../../parts/pill.js';

interface SectionProps {
  title: string;
  /** Text about the settings that apply, shown while the section is folded. */
  summary: string;
  /** Open tasks. A section with open tasks is unfolded. */
  issues?: readonly string[];
  isOpen?: boolean;
  children: ComponentChildren;
}

/** A part of a page that is folded while nothing in it needs attention. */
export function Section({ title, summary, issues = [], isOpen = false, children }: SectionProps) {
  const [chosen, setChosen] = useState<boolean>();
  return (
    <details
      class="card section"
      open={chosen ?? (isOpen || issues.length > 0)}
      onToggle={(event) => setChosen(event.currentTarget.open)}
    >
      <summary>
        <h2>{title}</h2>
        <span class="muted">{summary}</span>
        {issues.length > 0 && <Pill tone="warn">{formatCount(issues.length, 'open task')}</Pill>}
      </summary>
      <div class="stack">
        {issues.length > 0 && (
          <ul class="issues">
            {issues.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        )}
        {children}
      </div>
    </details>
  );
}
