/** How a SCIM client of an API key is answered: by the standard, or as one of the identity providers expects it. */
export const PROFILES = ['standard', 'entra', 'okta', 'midpoint'] as const;
export type Profile = (typeof PROFILES)[number];

/** Of a key that names none, and of people. */
export const DEFAULT_PROFILE: Profile = 'standard';
