import owasp from '@stoplight/spectral-owasp-ruleset';

/** A rule with other places to look at. */
const elsewhere = (rule, ...given) => ({ ...owasp.rules[rule], given });

/** What is asked of docs/openapi.json, besides that it is OpenAPI (redocly.yaml). Whatever is off has its reason. */
export default {
  extends: [owasp],
  rules: {
    // The rate limit is a setting, off by default: only where it is on do answers carry a quota.
    'owasp:api4:2023-rate-limit': 'off',
    // Names, sentences and sort keys are free text, bounded by their length.
    'owasp:api4:2023-string-restricted': 'off',
    // Files and events are written while they are made: their length is known to nobody before.
    'owasp:api4:2023-string-limit': elsewhere(
      'owasp:api4:2023-string-limit',
      '$..[?(@ && @.type=="string" && @.format!="binary")]',
    ),
    // `authname` is a map: its members are named by the installation. Their number is bounded.
    'owasp:api3:2023-no-additionalProperties': 'off',
    // No page of another origin may use the API: there are no CORS headers, on purpose.
    'owasp:api8:2023-define-cors-origin': 'off',
    // Status and probes need no credentials, so none can be wrong.
    'owasp:api8:2023-define-error-responses-401': elsewhere(
      'owasp:api8:2023-define-error-responses-401',
      '$.paths[?(@property!="/api/0.3/status" && @property!="/health/live" && @property!="/health/ready")]..responses',
    ),
    // One file for every installation: whoever serves it is the server.
    'owasp:api9:2023-inventory-access': 'off',
    'owasp:api9:2023-inventory-environment': 'off',
  },
};
