import { REQUIRED_COLUMNS } from '../../lib/columns.js';
import { Button } from '../../parts/button.js';
import { Pick } from '../../parts/field.js';
import { Offer } from '../../parts/offer.js';
import {
  type Editing,
  buildTemplate,
  countBlanks,
  findSources,
  listSources,
  mapColumn,
  setTemplate,
} from './draft.js';
import { DefaultRoles, SettingFields } from './settings-fields.js';
import { FirstValues, TemplateBuilder, formatDuplicates } from './template-builder.js';

/** Fields for the sources of the identifiers, and for the roles of new users. */
export const PeopleFields = ({ editing }: { editing: Editing }) => (
  <>
    {REQUIRED_COLUMNS.map((column) => (
      <Identifier key={column} column={column} editing={editing} />
    ))}
    <DefaultRoles editing={editing} />
    <SettingFields names={['manager_key']} editing={editing} />
  </>
);

/** The source of an identifier: a column, an offered template or a custom template. */
function Identifier({ column, editing }: { column: string; editing: Editing }) {
  const { draft, change, getOffers } = editing;
  const template = draft.set?.[column];
  const sources = findSources(draft, column);
  const hasFallback =
    column !== 'ExternalId' && (sources.length === 0 || countBlanks(editing.preview, column) > 0);
  const pieces = sources.length === 0 && hasFallback ? 'the external ID' : 'pieces';
  return (
    <section class="stack">
      <h3>{column}</h3>
      {getOffers(column).map((offer) => (
        <Offer
          key={offer.template}
          text={offer.template}
          example={`${offer.values.join(', ')} · ${formatDuplicates(offer.duplicates)}`}
          isChosen={template === offer.template}
          onPick={() => change(setTemplate(draft, column, offer.template))}
        />
      ))}
      {template !== undefined ? (
        <TemplateBuilder column={column} editing={editing} />
      ) : (
        <>
          {sources.length > 0 && <FirstValues column={column} editing={editing} />}
          <div class="buttons">
            <Pick
              label={`Column of ${column}`}
              text={sources.length > 0 ? `From the column ${sources.join(', ')}` : 'Use a column…'}
              choices={listSources(editing)}
              onPick={(source) => change(mapColumn(draft, source, column))}
            />
            <Button
              text={
                sources.length > 0 && hasFallback
                  ? 'Build a value for blank cells'
                  : `Build ${column} from ${pieces}`
              }
              onClick={() => change(buildTemplate(draft, column, hasFallback))}
            />
          </div>
        </>
      )}
    </section>
  );
}
