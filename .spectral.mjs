import owasp from '@stoplight/spectral-owasp-ruleset';

/** A rule that looks at other places. `given` is Spectral's name for them. */
const elsewhere = (rule, ...given) => ({ ...owasp.rules[rule], given });

/** The rules for docs/openapi.json, besides the specification (redocly.yaml). Each rule that is off has a reason. */
export default {
  extends: [owasp],
  rules: {
    // The rate limit is a setting, off by default. Answers carry a quota only where it is on.
    'owasp:api4:2023-rate-limit': 'off',
    // Names, sentences and sort keys are free text, bounded by their length.
    'owasp:api4:2023-string-restricted': 'off',
    // Files and events are streamed: their length is not known in advance.
    'owasp:api4:2023-string-limit': elsewhere(
      'owasp:api4:2023-string-limit',
      '$..[?(@ && @.type=="string" && @.format!="binary")]',
    ),
    // `authname` is a map whose keys the installation chooses. Their number is bounded.
    'owasp:api3:2023-no-additionalProperties': 'off',
    // Pages of other origins may not use the API, so there are no CORS headers.
    'owasp:api8:2023-define-cors-origin': 'off',
    // Status and probes need no credentials, so they have no 401.
    'owasp:api8:2023-define-error-responses-401': elsewhere(
      'owasp:api8:2023-define-error-responses-401',
      '$.paths[?(@property!="/api/0.3/status" && @property!="/health/live" && @property!="/health/ready")]..responses',
    ),
    // One file serves every installation, so it names no server.
    'owasp:api9:2023-inventory-access': 'off',
    'owasp:api9:2023-inventory-environment': 'off',
  },
};
