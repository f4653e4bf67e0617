/** Leniencies towards providers, each counted by its kind in `scim_deviations`. */
export type Deviation =
  /** `"True"` where the schema has a boolean. */
  | 'boolean_text'
  /** `Replace`, `operations`, `Value`: another spelling than the RFC's. */
  | 'spelling'
  /** A key of an operation without path that is itself a path, such as `name.givenName`. */
  | 'path_in_value'
  /** null or `""` in an operation that is not `remove`. */
  | 'empty_value'
  /** `remove` of elements by `value` instead of by a filter. */
  | 'remove_with_value'
  | 'missing_schemas'
  /** A list where one value belongs, or one value where a list belongs. */
  | 'list_shape'
  /** A text for an object with that `value`. */
  | 'text_as_object'
  | 'unknown_attribute'
  | 'read_only_attribute'
  /** `attr[filter].sub` without match, which makes the element. */
  | 'filter_creates_element';
export type CountDeviation = (kind: Deviation) => void;
