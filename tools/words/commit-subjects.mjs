/** Verbs with which a commit subject may begin. */
export const VERBS = new Set(
  `abort accept acquire adapt add adjust align allocate allow answer apply assign attach audit avoid backfill batch bind
   block bound bring build bump cache call cancel catch change check choose claim clarify clean clear close collapse
   collect combine commit compare compile complete compress compute configure connect convert copy correct
   count cover create cut declare decode deduplicate define delay delete deny deprecate derive describe
   detect disable document downgrade drop edit emit enable encode encrypt end enforce ensure escape evaluate
   exclude execute expand explain export expose extend extract fill filter find finish fix flag flush follow
   forbid format free gather generate give group guard handle harden hash hide hold ignore implement import
   improve include increase increment infer inject inline insert install join keep leave lend lengthen let
   limit link lint list load lock log look lower make map mark mask match measure mention merge migrate mock move
   name narrow normalize obtain omit open optimize order parse pass pause permit pin plan prefer prepare
   present preserve prevent print promote protect prove provide prune publish purge queue quote raise
   randomize read rebuild recommend record reduce refactor refer refresh refuse regenerate reject release
   reload remove rename render reopen reorder repair repeat replace report request require reserve reset
   resolve respond restore restrict resume retry return reuse revert review revise revoke reword rewrite roll
   rotate round run sanitize save scope seal search seed select send separate serve set share shorten show
   shrink shut sign simplify simulate skip sort specify speed split stage standardize start state stop store
   stream strengthen strip suggest suppress survive switch sync take teach test throttle throw tighten time
   tolerate trace track translate treat trim truncate trust try turn type unify unlock unpack update upgrade upload
   use validate verify wait walk warn watch weigh widen wire wrap write`.split(/\s+/),
);

/** Verbs that are also common nouns. After "and" they usually belong to a list of things. */
const NOUNS = new Set(
  `answer audit backfill batch block bound bring build cache call change check copy count cover cut document drop end export
  extract flag format group guard hash import lend limit link lint list load lock log map mark match measure mock name order pass
  pause permit pin plan queue quote raise read record release render report request reserve reset return reuse review
  run save scope seal search seed set share sign sort stage start state stop store stream switch test throttle time
  trace track trust try turn type update upgrade upload use wait walk watch wire wrap`.split(/\s+/),
);

/**
 * Returns true unless a subject joins two statements with a semicolon, or with a second verb after "and" or a comma.
 */
export function isOneTopic(subject) {
  if (subject.includes(';')) return false;
  const joined = [...subject.matchAll(/(?:,| and)(?: then)? (\w+)/g)].map(([, word]) => word);
  return !joined.some((word) => VERBS.has(word) && !NOUNS.has(word));
}
