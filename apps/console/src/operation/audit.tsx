import { Empty } from '../ui/notices.js';
import { useTitle } from '../ui/title.js';
import { useDefinitions } from '../records/definitions.js';
import { RecordListView } from '../records/record-list.js';

/** What has happened to accounts: sign-ins, failures, changes of passwords and factors. */
export function AuditPage() {
  useTitle('Security events');
  const { lists } = useDefinitions();
  const list = lists.find(({ operation }) => operation.id === 'auth.events');
  return (
    <>
      <header className="view-head">
        <h1>Security events</h1>
      </header>
      {list && <RecordListView list={list} given={{}} kind={undefined} empty={<Empty title="No events yet" />} />}
    </>
  );
}
