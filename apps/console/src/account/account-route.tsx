import { useMe } from '../session/me.js';
import { RecordView } from '../records/record-view.js';
import { useDefinitions } from '../records/definitions.js';
import { WithDefinitions } from '../records/with-definitions.js';

/** One's own account: profile, email, password, keys, providers, export and erasure. */
export function AccountRoute() {
  return (
    <WithDefinitions>
      <Own />
    </WithDefinitions>
  );
}

function Own() {
  const { data: me } = useMe();
  const { kinds } = useDefinitions();
  const kind = kinds.find(({ name }) => name === 'identities');
  return me && kind ? <RecordView kind={kind} id={me.id} /> : null;
}
