import { type Block, blocksOf } from './blocks.js';
import { Terminal } from './terminal.js';
import { Transcript } from './transcript.js';

/** What a command prints, by the language of the block that shows it. */
const SHOWN = new Set(['text', 'json', 'http']);

/** A bar that a terminal replaces; without a terminal it is lines like these. */
const PROGRESS = /^.* …\n/gm;

/** Which database a command is on: a document shows it once, and leaves it out where nothing depends on it. */
const PLACE = /^(?:Database|Service): .*\n/gm;

export interface Surroundings {
  /** In which the commands run. */
  folder: string;
  variables: NodeJS.ProcessEnv;
  /** The script as it can run here, such as with the port of this service. */
  here?: (script: string) => string;
  /** What was printed as the document shows it. */
  asShown?: (printed: string) => string;
  /** What ids and keys of the document stand for from the beginning. */
  knows?: Record<string, string>;
  /** Called behind each block that was run. */
  after?: (block: Block, printed: string) => Promise<void>;
}

/** How many blocks of a document were run, and how many outputs were compared. */
export interface Tally {
  run: number;
  compared: number;
}

/**
 * Runs every `sh` block of a document in order, in one shell, and compares the block behind it with what it prints.
 * @throws Error with the place in the document and what differs, or which command failed.
 */
export async function follow(
  document: string,
  surroundings: Surroundings,
  blocks = blocksOf(document),
): Promise<Tally> {
  const { folder, variables, here = same, asShown = same, knows, after } = surroundings;
  const terminal = new Terminal(folder, variables);
  const transcript = new Transcript(knows);
  const tally = { run: 0, compared: 0 };
  let printed: string | undefined;
  try {
    for (const block of blocks) {
      try {
        if (block.kind === 'sh' && block.noRun === undefined) {
          const ran = await terminal.run(here(transcript.scriptOf(block.text)));
          assertEnded(block, ran.faults, ran.printed);
          printed = asShown(ran.printed.replace(PROGRESS, ''));
          tally.run++;
        } else if (SHOWN.has(block.kind) && printed !== undefined) {
          transcript.compare(
            block.kind,
            block.text,
            block.text.search(PLACE) < 0 ? printed.replace(PLACE, '') : printed,
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

const same = (text: string): string => text;

/** Commands end with 0, or some of them with the code that the document names. */
function assertEnded({ exit }: Block, faults: string[], printed: string): void {
  const isMeant =
    exit === 0
      ? faults.length === 0
      : faults.length > 0 && faults.every((fault) => fault.endsWith(`: ${exit}`));
  if (!isMeant)
    throw new Error(`exit code ${exit} expected: ${faults.join('; ') || 'all ended with 0'}\n${printed}`);
}
