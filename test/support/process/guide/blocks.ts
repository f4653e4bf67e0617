import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../process.js';

/** A fenced block of a document. */
export interface Block {
  /** The language that it names, such as `sh` for what a reader types and `text` for what that prints. */
  kind: string;
  text: string;
  /** Under which it stands. */
  heading: string;
  /** Of its first line in the document. */
  line: number;
  /** Why nobody can run it here: `sh no-run="needs a container engine"`. */
  noRun: string | undefined;
  /** The exit code of its commands that do not end with 0: `sh exit=2`. */
  exit: number;
}

const FENCE = /^( *)```(\w*)([^\n]*)\n([^]*?)^\1```$/gm;

/** All blocks of a text in Markdown, in order. @throws Error for one without a language, or with an unknown word after it. */
export function blocksIn(text: string): Block[] {
  return [...text.matchAll(FENCE)].map(
    ({ index, 1: indent = '', 2: kind = '', 3: words = '', 4: body = '' }) => {
      const line = text.slice(0, index).split('\n').length + 1;
      const [, , noRun, exit] = /^( no-run="([^"]+)"| exit=(\d+))?$/.exec(words) ?? [];
      if (kind === '' || (words !== '' && noRun === undefined && exit === undefined))
        throw new Error(`line ${line - 1}: a block begins with \`\`\`${kind}${words}`);
      const heading =
        /^#+ (.*)$/m.exec(
          text
            .slice(0, index)
            .split(/^(?=#+ )/m)
            .at(-1) ?? '',
        )?.[1] ?? '';
      return {
        heading,
        kind,
        text: body.replaceAll(`\n${indent}`, '\n').slice(indent.length),
        line,
        noRun,
        exit: Number(exit ?? 0),
      };
    },
  );
}

/** The blocks of a document. @param path from the root of the project. */
export const blocksOf = (path: string): Block[] => blocksIn(readFileSync(join(ROOT, path), 'utf8'));
