/** Returns the constructions in a text, as "found: advice". Code in backticks is left out. */
export function findConstructions(text: string): string[];
