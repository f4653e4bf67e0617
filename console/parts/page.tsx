import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useUrl } from '../lib/url.js';
import { Table, type TableProps } from './table.js';

interface PageProps {
  title: string;
  /** Content next to the title. */
  titleBadge?: ComponentChildren;
  /** Content below the title. */
  lead?: ComponentChildren;
  /** Buttons on the right. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

let isFirst = true;

/** A page with a title. The title gets the focus on navigation, so that screen readers announce it. */
export function Page({ title, titleBadge, lead, actions, children }: PageProps) {
  const { path } = useUrl();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Rollcall`;
  }, [title]);
  useEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true });
    isFirst = false;
  }, [path]);
  return (
    <>
      <header class="head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
            {titleBadge}
          </h1>
          {lead && <div class="lead">{lead}</div>}
        </div>
        {actions && <div class="buttons">{actions}</div>}
      </header>
      {children}
    </>
  );
}

interface CardProps {
  title: string;
  actions?: ComponentChildren;
}

/** A section of a page with its own title and buttons. */
export const Card = (props: CardProps & { children: ComponentChildren; isFlush?: boolean }) => (
  <section class={`card${props.isFlush ? ' flush' : ''}`}>
    <header>
      <h2>{props.title}</h2>
      {props.actions && <div class="buttons">{props.actions}</div>}
    </header>
    {props.children}
  </section>
);

/** A section that contains only a table, whose caption is the title. */
export const TableCard = <T,>({ title, actions, ...table }: CardProps & Omit<TableProps<T>, 'caption'>) => (
  <Card title={title} actions={actions} isFlush>
    <Table caption={title} {...table} />
  </Card>
);

/** Names and values. Facts without a value are left out. */
export type Facts = readonly (readonly [name: string, value: ComponentChildren])[];

export const FactList = ({ facts, isNarrow = false }: { facts: Facts; isNarrow?: boolean }) => (
  <dl class={`facts${isNarrow ? ' side-facts' : ''}`}>
    {facts.map(
      ([name, value]) =>
        value && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);
