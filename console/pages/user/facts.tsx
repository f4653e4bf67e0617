import type { ComponentChildren } from 'preact';
import type { User } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { getLabel } from '../../lib/text.js';
import { Copy } from '../../parts/copy.js';
import { Card } from '../../parts/page.js';
import { Time } from '../../parts/time.js';
import { loadGroups } from '../../api/users.js';

export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{getLabel(name)}</dt>
    <dd>{children}</dd>
  </div>
);

const Names = ({ values }: { values: readonly string[] }) =>
  values.length > 0 ? (
    <span class="tags">
      {values.map((value) => (
        <span key={value} class="tag">
          {value}
        </span>
      ))}
    </span>
  ) : (
    <span class="none">none</span>
  );

/** Shows the read-only fields of a user: times, groups, roles from groups and UUID. */
export function Facts({ user, isFull }: { user: User; isFull: boolean }) {
  const groups = useResource(isFull ? user.uuid : undefined, (signal) => loadGroups(user.uuid, signal));
  return (
    <Card title="Record">
      <dl class="facts side-facts">
        <Fact name="created">
          <Time at={user.created} />
        </Fact>
        <Fact name="updated">
          <Time at={user.updated} />
        </Fact>
        {user.last_access !== undefined && (
          <Fact name="last_access">
            <Time at={user.last_access} />
          </Fact>
        )}
        {isFull && (
          <Fact name="groups">
            {groups.data ? <Names values={groups.data.map(({ display_name }) => display_name)} /> : '…'}
          </Fact>
        )}
        <Fact name="group_roles">
          <Names values={user.group_roles} />
        </Fact>
        <Fact name="uuid">
          <Copy text={user.uuid} what="UUID" />
        </Fact>
      </dl>
    </Card>
  );
}
