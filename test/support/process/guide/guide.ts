import { type Block, readBlocks } from './blocks.js';
import { Terminal } from './terminal.js';
import { Transcript } from './transcript.js';

/** Languages of blocks that show the output of a command. */
const SHOWN = new Set(['text', 'json', 'http']);

/** Lines of a progress bar that is not written to a terminal. */
const PROGRESS = /^.* …\n/gm;

/** Line that names the database or service of a command. Documents may omit it. */
const TARGET_LINE = /^(?:Database|Service): .*\n/gm;

export interface GuideOptions {
  /** Folder in which the commands run. */
  folder: string;
  variables: NodeJS.ProcessEnv;
  /** Adapts a script to the test, for example the port of the service. */
  here?: (script: string) => string;
  /** Converts output to the form in the document. */
  asShown?: (printed: string) => string;
  /** Actual values for ids and keys in the document that are known from the beginning. */
  knows?: Record<string, string>;
  /** Called after each block. */
  after?: (block: Block, printed: string) => Promise<void>;
}

/** Number of blocks that were run and of outputs that were compared. */
export interface Tally {
  run: number;
  compared: number;
}

/**
 * Runs every `sh` block of a document in order, in one shell, and compares its output with the block after it.
 * @throws Error with the line of the document and the difference or the failed command.
 */
export async function runGuide(
  document: string,
  surroundings: GuideOptions,
  blocks = readBlocks(document),
): Promise<Tally> {
  const { folder, variables, here = keepText, asShown = keepText, knows, after } = surroundings;
  const terminal = new Terminal(folder, variables);
  const transcript = new Transcript(knows);
  const tally = { run: 0, compared: 0 };
  let printed: string | undefined;
  try {
    for (const block of blocks) {
      try {
        if (block.kind === 'sh' && block.noRun === undefined) {
          const ran = await terminal.run(here(transcript.scriptOf(block.text)));
          assertExitCode(block, ran.faults, ran.printed);
          printed = asShown(ran.printed.replace(PROGRESS, ''));
          tally.run++;
        } else if (SHOWN.has(block.kind) && printed !== undefined) {
          transcript.compare(
            block.kind,
            block.text,
            block.text.search(TARGET_LINE) < 0 ? printed.replace(TARGET_LINE, '') : printed,
          );
          printed = undefined;
          tally.compared++;
        } else printed = undefined;
        await after?.(block, printed ?? '');
      } catch (error) {
        throw new Error(
          `${document}:${block.line}: ${error instanceof Error ? error.message : String(error)}`,
          { cause: error },
        );
      }
    }
  } finally {
    terminal.close();
  }
  return tally;
}

const keepText = (text: string): string => text;

/** Throws unless the commands of a block end with 0, or the failing ones with the exit code of the block. */
function assertExitCode({ exit }: Block, faults: string[], printed: string): void {
  const isExpected =
    exit === 0
      ? faults.length === 0
      : faults.length > 0 && faults.every((fault) => fault.endsWith(`: ${exit}`));
  if (!isExpected)
    throw new Error(
      `expected exit code ${exit}, but: ${faults.join(', ') || 'all commands ended with 0'}\n${printed}`,
    );
}
