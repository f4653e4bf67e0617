import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../platform/common/errors.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
/** Where Linux shows the open files of a process, as paths that lead to the files themselves. */
const OPEN_FILES = '/proc/self/fd';
const HAS_OPEN_FILES = existsSync(OPEN_FILES);
/** Names that are sorted at a time. */
const PAGE = 1000;

/** Something in a folder that is not opened. Its message is for the log. */
export class Refusal extends Error {
  constructor(
    readonly file: string,
    readonly reason: string,
  ) {
    super(`${file} is ${reason}`);
    this.name = 'Refusal';
  }
}

/**
 * A folder that is kept open. On Linux everything is done in this very folder, even when its path leads elsewhere
 * meanwhile (openat(2), which Node.js does not have); on other systems the path is used.
 */
export class HeldFolder {
  private constructor(
    private readonly handle: FileHandle,
    private readonly path: string,
  ) {}

  /**
   * Opens a folder for `work` and closes it again.
   * @param links whether the last part of the path may be a link. @throws Refusal when it is no folder; a system error.
   */
  static async use<T>(
    path: string,
    { links }: { links: boolean },
    work: (folder: HeldFolder) => Promise<T>,
  ): Promise<T> {
    const folder = await HeldFolder.open(path, { links });
    try {
      return await work(folder);
    } finally {
      await folder.close();
    }
  }

  /** As `use`, for a caller that closes it. */
  static async open(path: string, { links }: { links: boolean }): Promise<HeldFolder> {
    const flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | (links ? 0 : O_NOFOLLOW);
    const handle = await open(path, flags).catch((error: unknown) => {
      if (errorCode(error) === 'ENOTDIR' || errorCode(error) === 'ELOOP')
        throw new Refusal(path.slice(path.lastIndexOf('/') + 1), 'a link or a file where a folder is needed');
      throw error;
    });
    return new HeldFolder(handle, HAS_OPEN_FILES ? join(OPEN_FILES, String(handle.fd)) : path);
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  /** The path of a name in this folder, valid until it is closed. */
  at(name: string): string {
    return join(this.path, name);
  }

  /**
   * The names that `wanted` admits, in order. Memory and the work between two turns of the event loop stay the same
   * however many there are; a name that comes or goes meanwhile may be there or not.
   */
  async *names(wanted: (name: string) => boolean): AsyncGenerator<string> {
    for (let page = await this.page('', wanted); ; page = await this.page(page.at(-1) ?? '', wanted)) {
      yield* page;
      if (page.length < PAGE) return;
    }
  }

  private async page(after: string, wanted: (name: string) => boolean): Promise<string[]> {
    let names: string[] = [];
    const firstOf = () => (names = names.sort().slice(0, PAGE));
    for await (const { name } of await opendir(this.path, { bufferSize: PAGE })) {
      if (name > after && wanted(name)) names.push(name);
      if (names.length >= 2 * PAGE) firstOf();
    }
    return firstOf();
  }

  /** What is known of a name without opening it. @throws Refusal unless it is a regular file with this name alone. */
  async look(name: string): Promise<Stats> {
    const stats = await lstat(this.at(name));
    refuseOthers(name, stats);
    return stats;
  }

  /**
   * Opens a regular file for reading; nothing else is opened, whatever takes its place meanwhile, and nothing is waited
   * for. @throws Refusal for anything else; a system error.
   */
  async openFile(name: string): Promise<FileHandle> {
    await this.look(name); // devices can act when they are opened
    const handle = await open(this.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY).catch(
      (error: unknown) => {
        if (errorCode(error) === 'ELOOP') throw new Refusal(name, 'a link');
        throw error;
      },
    );
    try {
      refuseOthers(name, await handle.stat());
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
}

/**
 * A second name may be one of a file elsewhere that the deliverer cannot read but the service can. (Linux forbids such
 * links where `fs.protected_hardlinks` is set.)
 */
function refuseOthers(name: string, stats: Stats): void {
  if (stats.isSymbolicLink()) throw new Refusal(name, 'a link');
  if (stats.isDirectory()) throw new Refusal(name, 'a folder');
  if (stats.isFIFO()) throw new Refusal(name, 'a pipe');
  if (stats.isSocket()) throw new Refusal(name, 'a socket');
  if (!stats.isFile()) throw new Refusal(name, 'a device');
  if (stats.nlink > 1) throw new Refusal(name, 'a file with a second name (a hard link)');
}
