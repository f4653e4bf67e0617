/** The rules `comments`, `titles` and `texts` about wording. */
declare const plugin: { rules: Record<string, object> };
export default plugin;
