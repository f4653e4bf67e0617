import { useState } from 'preact/hooks';
import { useAction } from '../../api/resource.js';
import { createUser } from '../../api/users.js';
import { useUnsavedWarning } from '../../lib/unsaved.js';
import { navigate, toHref } from '../../lib/url.js';
import { Form } from '../../parts/form.js';
import { Card, Page } from '../../parts/page.js';
import { showToast } from '../../parts/toast.js';
import { type Draft, EMPTY_DRAFT, findDifferences, toInput } from './draft.js';
import { FIELDS, ProfileFields } from './profile-fields.js';

/** Creates a user. The page of the new user then offers a generated password. */
export function NewUserPage() {
  const [draft, setDraft] = useState<Draft>(EMPTY_DRAFT);
  const action = useAction();
  useUnsavedWarning(findDifferences(EMPTY_DRAFT, draft).length > 0);
  const create = async (): Promise<void> => {
    const uuid = await createUser(toInput(EMPTY_DRAFT, draft));
    // Replaces the saved form in the history, so that "Back" does not show it again.
    navigate(toHref(`/users/${uuid}`, { new: true }), { replace: true });
    showToast('The user was created.');
  };
  return (
    <Page title="New user">
      <Card title="Profile">
        <Form
          action={action}
          work={create}
          submitLabel="Create user"
          onCancel={() => navigate(toHref('/users'))}
          fields={FIELDS}
        >
          <ProfileFields draft={draft} setDraft={setDraft} isFull />
        </Form>
      </Card>
    </Page>
  );
}
