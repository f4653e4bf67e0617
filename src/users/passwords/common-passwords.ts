/** Whether a text in lower case is on a list of 49,000 common and breached passwords (`@zxcvbn-ts/language-common`). */
export type IsCommon = (text: string) => boolean;

let list: Promise<IsCommon> | undefined;

/** The list is read when the first password is set: it takes 4 MiB, which most processes never need. */
export function commonPasswords(): Promise<IsCommon> {
  list ??= read();
  return list;
}

async function read(): Promise<IsCommon> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const words = new Set(dictionary['passwords-common']);
  return (text) => words.has(text);
}
