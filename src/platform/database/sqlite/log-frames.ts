import { closeSync, existsSync, openSync, readSync } from 'node:fs';

// Format of SQLite's write-ahead log (sqlite.org/walformat.html). Numbers have four bytes.
const LOG_HEADER = { bytes: 32, saltAt: 16, checksumAt: 24 };
const FRAME_HEADER = { bytes: 24, pageAt: 0, commitAt: 4, saltAt: 8, checksumAt: 16 };
export const PAGE_BYTES = 4096;
const FRAME_BYTES = FRAME_HEADER.bytes + PAGE_BYTES;
const CHECKSUM_BYTES = 8;
/** The index of the log begins with two equal headers. Its numbers are little-endian, except for the salt. */
export const INDEX = { headerBytes: 48, framesAt: 16, checksumAt: 24, saltAt: 32, checkpointedAt: 96 };
/** The index then has blocks with the page of each frame. The headers take the place of some frames in the first block. */
const INDEX_BLOCK = { bytes: 32_768, frames: 4096, framesOfHeaders: 34 };
/** Distance in bytes from the checksum of the previous frame to the start of a frame. */
const BEFORE_BYTES = FRAME_BYTES - FRAME_HEADER.checksumAt;

/** Checksum of a frame and all frames before it. */
export type Checksum = readonly [number, number];

interface Frame {
  page: number;
  salt: number;
  /** True if a transaction ends with this frame. */
  isCommit: boolean;
  checksum: Checksum;
}

/** The transactions that SQLite finds in a log. */
interface CommittedLog {
  salt: number;
  /** Number of frames up to the end of the last transaction. */
  frames: number;
  /** The last frame of each page. */
  pages: ReadonlyMap<number, number>;
}

/** The frames of a write-ahead log. Each frame contains a changed page. The first frame has the number 1. */
export class LogFrames {
  private readonly bytes = Buffer.from(new ArrayBuffer(BEFORE_BYTES + FRAME_BYTES));
  private readonly words = new Int32Array(this.bytes.buffer);
  private readonly log = openSync(this.path, 'r');

  constructor(private readonly path: string) {}

  /** Opens a log, calls `use` and closes the log. @returns undefined if the file is missing. */
  static use<T>(path: string, use: (log: LogFrames) => T): T | undefined {
    if (!existsSync(path)) return undefined;
    const log = new LogFrames(path);
    try {
      return use(log);
    } finally {
      log.close();
    }
  }

  close(): void {
    closeSync(this.log);
  }

  /** Returns the salt of the log, or undefined if the header of the log is missing or damaged. */
  readSalt(): number | undefined {
    if (!this.read(0, LOG_HEADER.bytes)) return undefined;
    const checksum = this.extendChecksum([0, 0], 0, LOG_HEADER.checksumAt);
    const isValid = isSameChecksum(checksum, this.readChecksum(LOG_HEADER.checksumAt));
    return isValid ? this.bytes.readUInt32BE(LOG_HEADER.saltAt) : undefined;
  }

  /** Reads all transactions up to the first missing or damaged frame. @returns undefined without a valid header. */
  readCommitted(): CommittedLog | undefined {
    const salt = this.readSalt();
    if (salt === undefined) return undefined;
    let frames = 0;
    const pages = new Map<number, number>();
    let uncommitted: [page: number, frame: number][] = [];
    for (let number = 1; ; number++) {
      const frame = this.readFrame(number);
      if (frame?.salt !== salt) return { salt, frames, pages };
      uncommitted.push([frame.page, number]);
      if (!frame.isCommit) continue;
      for (const [page, last] of uncommitted) pages.set(page, last);
      uncommitted = [];
      frames = number;
    }
  }

  /** Reads a frame and the checksum before it. @returns undefined if the frame is missing or damaged. */
  readFrame(number: number): Frame | undefined {
    // The checksum before the first frame is the end of the log's header.
    const start = number === 1 ? CHECKSUM_BYTES : BEFORE_BYTES;
    if (!this.read(positionOf(number) - start, start + FRAME_BYTES)) return undefined;
    const { bytes } = this;
    const page = start + FRAME_HEADER.bytes;
    // The second half of a frame's header is not part of its checksum.
    const header = this.extendChecksum(this.readChecksum(0), start, start + CHECKSUM_BYTES);
    const checksum = this.extendChecksum(header, page, page + PAGE_BYTES);
    if (!isSameChecksum(checksum, this.readChecksum(start + FRAME_HEADER.checksumAt))) return undefined;
    return {
      page: bytes.readUInt32BE(start + FRAME_HEADER.pageAt),
      salt: bytes.readUInt32BE(start + FRAME_HEADER.saltAt),
      isCommit: bytes.readUInt32BE(start + FRAME_HEADER.commitAt) !== 0,
      checksum,
    };
  }

  /** Reads the page of a frame. The result is valid until the next call. */
  readPage(number: number): Buffer | undefined {
    const isRead = this.read(positionOf(number) + FRAME_HEADER.bytes, PAGE_BYTES);
    return isRead ? this.bytes.subarray(0, PAGE_BYTES) : undefined;
  }

  private read(position: number, length: number): boolean {
    return readSync(this.log, this.bytes, 0, length, position) === length;
  }

  private readChecksum(position: number): Checksum {
    return [this.bytes.readUInt32BE(position), this.bytes.readUInt32BE(position + 4)];
  }

  /** Extends a checksum with a range of bytes. SQLite reads the range as 32-bit words in the machine's byte order. */
  private extendChecksum(before: Checksum, start: number, end: number): Checksum {
    const { words } = this;
    let first = before[0] | 0;
    let second = before[1] | 0;
    for (let at = start / 4; at < end / 4; at += 2) {
      first = (((first + (words[at] ?? 0)) | 0) + second) | 0;
      second = (((second + (words[at + 1] ?? 0)) | 0) + first) | 0;
    }
    return [first >>> 0, second >>> 0];
  }
}

const positionOf = (frame: number): number => LOG_HEADER.bytes + (frame - 1) * FRAME_BYTES;

/** Returns the position of a frame's page number in the index of the log. */
export function positionInIndex(frame: number): number {
  const entry = frame - 1 + INDEX_BLOCK.framesOfHeaders;
  const block = Math.floor(entry / INDEX_BLOCK.frames);
  return block * INDEX_BLOCK.bytes + (entry % INDEX_BLOCK.frames) * 4;
}

export const isSameChecksum = (first: Checksum, second: Checksum): boolean =>
  first[0] === second[0] && first[1] === second[1];
