/**
 * Constructions that are hard to read, with advice. They are checked in comments, test titles, texts for users,
 * documents, the OpenAPI file and commit subjects.
 */
export const CONSTRUCTIONS = [
  { pattern: /\b(those|that) of\b/i, advice: 'repeat the noun' },
  { pattern: /\bthose (that|who|whose|which)\b/i, advice: 'repeat the noun' },
  { pattern: /\bwho(m)?ever\b/i, advice: 'name the user or the caller' },
  { pattern: /\b(nobody|somebody)\b/i, advice: 'write "no user", "a user" or the noun' },
  {
    pattern: /(?<!\b[Tt]here )\bis (none|no)\b(?! (longer|more|less|later|earlier)\b)/i,
    advice: 'write invalid, missing, unknown or "is not a"',
  },
  { pattern: /\banother one\b/i, advice: 'repeat the noun' },
  {
    pattern: /\bbehind\b(?![^.]*\b(prox(y|ies)|load balancers?)\b)/i,
    advice: 'write after, or name the relation',
  },
  { pattern: /\bbesides?\b/i, advice: 'write alongside, in addition to, or except' },
  { pattern: /\b(is|are|was|were) (told|asked)\b/i, advice: 'write reported, requested or checked' },
  { pattern: /\bstrangers?\b/i, advice: 'write unlinked user or unlinked row' },
];

/** First words of docstrings that neither state an effect nor name a thing. */
export const WEAK_BEGINNING = /^(What|Whether|Who|Whose|Of|Those|How)\b/;

/** Removes code in backticks and link targets, because they are not prose. */
const stripCode = (text) => text.replace(/`[^`]*`/g, '``').replace(/\]\([^)]*\)/g, ']');

/** Returns the constructions in a text, as "found: advice". @param {string} text prose with code in backticks */
export function findConstructions(text) {
  const prose = stripCode(text).replace(/\s+/g, ' ');
  return CONSTRUCTIONS.flatMap(({ pattern, advice }) => {
    const found = pattern.exec(prose)?.[0];
    return found === undefined ? [] : [`"${found}": ${advice}`];
  });
}

/** Returns true if a text joins two statements with a semicolon. */
export const hasSemicolon = (text) => /;(\s|$)/.test(stripCode(text));
