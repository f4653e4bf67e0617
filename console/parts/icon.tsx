/** Paths of the icons, drawn as lines on a 16 × 16 grid. */
const PATHS = {
  users:
    'M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM1.5 13.500c.3-2.5 2.1-4 4.5-4s4.2 1.5 4.5 4M11 3.300a2.4 2.4 0 0 1 0 4.500M12.3 9.900c1.3.6 2.1 1.8 2.3 3.6',
  person: 'M8 7.500a2.7 2.7 0 1 0 0-5.5 2.7 2.7 0 0 0 0 5.500ZM3 14c.3-2.9 2.3-4.5 5-4.500s4.7 1.6 5 4.5',
  imports: 'M8 2v7M5 6.5 8 9.500l3-3M2.5 10.500v2a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1v-2',
  key: 'M10 9.500a3.7 3.7 0 1 0-3.5-2.600L2 11.500V14h2.500v-1.700h1.700v-1.700l1.2-1.200c.7.1 1.7.1 2.6.1ZM10.8 5.200h.01',
  home: 'M2.5 7 8 2.5 13.5 7v6a.5.5 0 0 1-.5.5H3a.5.5 0 0 1-.5-.5V7ZM6.5 13.500v-4h3v4',
  list: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01',
  profile: 'M3 2.500h7l3 3v8H3v-11ZM5.5 7h5M5.5 9.500h5',
  search: 'M7 11.500a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.500l3 3',
  menu: 'M2.5 4.500h11M2.5 8h11M2.5 11.500h11',
  close: 'M4 4l8 8M12 4l-8 8',
  out: 'M6 2.500H3v11h3M7 8h6.500M11 5.5 13.5 8 11 10.5',
  down: 'M4 6l4 4 4-4',
  up: 'M4 10l4-4 4 4',
  left: 'M10 3.5 5.5 8l4.5 4.5',
  right: 'M6 3.5 10.5 8 6 12.5',
  edit: 'M3 13l.6-2.800L10.8 3l2.2 2.2-7.2 7.200L3 13Z',
  copy: 'M5.5 5.500v-3h8v8h-3M2.5 5.500h8v8h-8v-8Z',
  columns: 'M2.5 3h11v10h-11V3ZM6.2 3v10M9.8 3v10',
  warning: 'M8 2.5 14.5 13.500h-13L8 2.500ZM8 6.500v3.500M8 12h.01',
  clock: 'M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12ZM8 4.500V8l2.500 1.500',
  calendar: 'M2.5 3.500h11v10h-11v-10ZM2.5 6.500h11M5.5 2v3M10.5 2v3',
  check: 'M3 8.5 6.5 12 13 4.5',
  undo: 'M5.5 3 2.5 6l3 3M2.5 6h6.500a4 4 0 0 1 0 8H6',
  docs: 'M6 4 2 8l4 4M10 4l4 4-4 4',
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon next to a text. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
