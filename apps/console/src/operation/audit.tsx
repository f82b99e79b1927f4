import { Empty } from '../ui/notices.js';
import { useTitle } from '../ui/title.js';
import { useDefinitions } from '../records/definitions.js';
import { RecordListView } from '../records/record-list.js';
import { t } from '../texts/texts.js';

/** What has happened to accounts: sign-ins, failures, changes of passwords and factors. */
export function AuditPage() {
  useTitle(t('records.audit.title'));
  const { lists } = useDefinitions();
  const list = lists.find(({ operation }) => operation.id === 'auth.events');
  return (
    <>
      <header className="view-head">
        <h1>{t('records.audit.title')}</h1>
      </header>
      {list && <RecordListView list={list} given={{}} kind={undefined} empty={<Empty title={t('records.audit.none')} />} />}
    </>
  );
}
