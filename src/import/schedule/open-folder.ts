import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCodeOf } from '../../platform/common/errors.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
/** Folder in which Linux lists the open files of this process. A path in this folder leads to the open file itself. */
const OPEN_FILES = '/proc/self/fd';
const HAS_OPEN_FILES = existsSync(OPEN_FILES);
const PAGE_SIZE = 1000;

/** Thrown for a file or folder that must not be opened. The message is for the log. */
export class EntryError extends Error {
  constructor(
    readonly file: string,
    readonly reason: string,
  ) {
    super(`${file} is ${reason}`);
    this.name = 'EntryError';
  }
}

/**
 * A folder that stays open. On Linux, all operations use this folder even if its path is replaced, as with openat(2).
 * On other systems, operations use the path.
 */
export class OpenFolder {
  private constructor(
    private readonly handle: FileHandle,
    private readonly path: string,
  ) {}

  /**
   * Opens a folder, which the caller must close with `await using`.
   * @param allowsLink true if the last part of the path may be a symbolic link.
   * @throws EntryError if the path is not a folder, or a system error.
   */
  static async open(path: string, { allowsLink }: { allowsLink: boolean }): Promise<OpenFolder> {
    const flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | (allowsLink ? 0 : O_NOFOLLOW);
    const handle = await open(path, flags).catch((error: unknown) => {
      if (errorCodeOf(error) === 'ENOTDIR' || errorCodeOf(error) === 'ELOOP')
        throw new EntryError(path.slice(path.lastIndexOf('/') + 1), 'a link or a file, not a folder');
      throw error;
    });
    return new OpenFolder(handle, HAS_OPEN_FILES ? join(OPEN_FILES, String(handle.fd)) : path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.handle.close();
  }

  pathOf(name: string): string {
    return join(this.path, name);
  }

  /**
   * Yields the names that pass `accept`, sorted. Sorts page by page, so a very large folder needs little memory and
   * never blocks the event loop for long. Names that are added or removed during the listing may be missing or
   * included.
   */
  async *listNames(accept: (name: string) => boolean): AsyncGenerator<string> {
    for (let after: string | undefined = ''; after !== undefined;) {
      const page = await this.loadNames(after, accept);
      yield* page;
      after = page[PAGE_SIZE - 1];
    }
  }

  private async loadNames(after: string, accept: (name: string) => boolean): Promise<string[]> {
    let names: string[] = [];
    const sortAndTruncate = () => (names = names.sort().slice(0, PAGE_SIZE));
    for await (const { name } of await opendir(this.path, { bufferSize: PAGE_SIZE })) {
      if (name > after && accept(name)) names.push(name);
      if (names.length >= 2 * PAGE_SIZE) sortAndTruncate();
    }
    return sortAndTruncate();
  }

  /**
   * Returns the status of a file without opening it.
   * @throws EntryError for anything but a regular file with a single hard link.
   */
  async inspect(name: string): Promise<Stats> {
    const stats = await lstat(this.pathOf(name));
    assertRegularFile(name, stats);
    return stats;
  }

  /**
   * Opens a regular file for reading. Does not wait for a pipe or device, and does not follow a link.
   * @throws EntryError for anything but a regular file, or a system error.
   */
  async openFile(name: string): Promise<FileHandle> {
    // Check before opening, because opening a device can have side effects.
    await this.inspect(name);
    const handle = await open(this.pathOf(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY).catch(
      (error: unknown) => {
        if (errorCodeOf(error) === 'ELOOP') throw new EntryError(name, 'a symbolic link');
        throw error;
      },
    );
    try {
      assertRegularFile(name, await handle.stat());
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
}

/**
 * Rejects everything but a regular file with a single hard link. With a second hard link, a sender could make the
 * service import a file that the sender cannot read.
 */
function assertRegularFile(name: string, stats: Stats): void {
  if (stats.isSymbolicLink()) throw new EntryError(name, 'a symbolic link');
  if (stats.isDirectory()) throw new EntryError(name, 'a folder');
  if (stats.isFIFO()) throw new EntryError(name, 'a pipe');
  if (stats.isSocket()) throw new EntryError(name, 'a socket');
  if (!stats.isFile()) throw new EntryError(name, 'a device');
  if (stats.nlink > 1) throw new EntryError(name, 'a file with several names (hard links)');
}
