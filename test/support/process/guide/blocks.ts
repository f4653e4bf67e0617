import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../process.js';

/** A fenced code block of a document. */
export interface Block {
  /** Language of the block, such as `sh` for a command and `text` for its output. */
  kind: string;
  text: string;
  /** Heading of the section that contains the block. */
  heading: string;
  /** Line number of the first line of the block. */
  line: number;
  /** Reason why the block cannot be run in a test: `sh no-run="needs a container engine"`. */
  noRun: string | undefined;
  /** Exit code of the failing commands in the block: `sh exit=2`. */
  exit: number;
}

const FENCE = /^( *)```(\w*)([^\n]*)\n([^]*?)^\1```$/gm;

/**
 * Returns all code blocks of a Markdown text in order.
 * @throws Error for a block without a language or with an unknown word after it.
 */
export function parseBlocks(text: string): Block[] {
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

/** Returns the code blocks of a document. @param path relative to the root of the project. */
export const readBlocks = (path: string): Block[] => parseBlocks(readFileSync(join(ROOT, path), 'utf8'));
