import { FileError } from '../../../src/import/file/file-error.js';
import { decodeText } from '../../../src/import/file/text-decoder.js';
import type { ByteSource } from './bytes.js';

export interface Decoded {
  text: string;
  error?: { code: string; line: number | undefined; message: string };
}

export async function decode(source: ByteSource, encoding?: string): Promise<Decoded> {
  let text = '';
  try {
    for await (const piece of decodeText(source, encoding)) text += piece;
    return { text };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { text, error: { code: error.code, line: error.line, message: error.message } };
  }
}

const toLatin1 = (text: string) => Buffer.from(text, 'latin1');
export const toUtf16 = (text: string) => Buffer.from(text, 'utf16le');
export const toUtf16Be = (text: string) => toUtf16(text).swap16();
export const concat = (...parts: (string | number[] | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? toLatin1(part) : Buffer.from(part))));

export const UTF8_BOM = [0xef, 0xbb, 0xbf];
export const LE_BOM = [0xff, 0xfe];
export const BE_BOM = [0xfe, 0xff];
