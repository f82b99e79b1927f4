import { Button } from '../ui/button.js';
import { Time } from '../ui/time.js';
import { t } from '../texts/texts.js';
import { textOf, useAct } from './acts.js';
import { useRows, type Input, type Row } from './call.js';
import { paramsOf, useDefinitions, type RecordList } from './definitions.js';
import { useOffered } from './offered.js';
import { RecordLink, Value, isFile } from './values.js';
import { labelOf } from './words.js';

/** What a request can ask for (decisions on organizations); what it leaves as it is, is null. */
const ASKED = [
  'name',
  'branchName',
  'typeId',
  'addressLine1',
  'addressLine2',
  'addressLine3',
  'postalCode',
  'certifiedQualifications',
] as const;
const DECISIONS = ['organizations.approveChange', 'organizations.rejectChange'] as const;

interface ChangeRequestsProps {
  list: RecordList;
  given: Input;
  /** The organization as it is. */
  record: Row;
}

/** What is asked for an organization beside what it has, with the certificates, to be decided there. */
export function ChangeRequests({ list, given, record }: ChangeRequestsProps) {
  const rows = useRows(list, given, {}).data?.pages[0]?.rows ?? [];
  const isPending = ({ status }: Row) => status === 'pending';
  // certificates prove changes: the present one is that of the last approved
  const proven = rows.find(({ status, certificateImage }) => status === 'approved' && isFile(certificateImage));
  return rows
    .filter(isPending)
    .map((request) => (
      <ChangeRequest key={String(request['id'])} {...{ request, record, given }} certificate={proven?.['certificateImage']} />
    ));
}

interface ChangeRequestProps extends Omit<ChangeRequestsProps, 'list'> {
  request: Row;
  /** The present one. */
  certificate: unknown;
}

function ChangeRequest({ request, record, given, certificate }: ChangeRequestProps) {
  const { operations, kindOf } = useDefinitions();
  const act = useAct();
  const isOn = useOffered();
  const { identityId, createdAt, certificateImage } = request;
  const asked = ASKED.filter((name) => request[name] !== null && request[name] !== undefined);
  const decisions = DECISIONS.flatMap((id) => {
    const operation = operations.get(id);
    if (!operation) return [];
    const input = Object.fromEntries(paramsOf(operation.path).map((name) => [name, given[name] ?? request['id']]));
    return isOn(operation, input) ? [{ operation, given: input, text: textOf(operation) }] : [];
  });
  return (
    <section className="panel" aria-label={t('records.changes.label')}>
      <p>
        {t('records.changes.by')} <RecordLink id={String(identityId)} kind={kindOf('identityId')} row={request} />{' '}
        <Time at={String(createdAt)} />
      </p>
      <div className="parts-box">
        <table className="differences">
          <thead>
            <tr>
              <th scope="col">{t('records.changes.field')}</th>
              <th scope="col">{t('records.changes.now')}</th>
              <th scope="col">{t('records.changes.asked')}</th>
            </tr>
          </thead>
          <tbody>
            {asked.map((name) => (
              <tr key={name}>
                <th scope="row">{labelOf(name)}</th>
                <td>
                  <Value value={record[name]} field={name} row={record} kind={undefined} isLong />
                </td>
                <td>
                  <Value value={request[name]} field={name} row={request} kind={undefined} isLong />
                </td>
              </tr>
            ))}
            <tr>
              <th scope="row">{t('records.changes.certificate')}</th>
              {[certificate, certificateImage].map((file, index) => (
                <td key={['now', 'asked'][index]}>
                  <Value value={file} field="certificateImage" row={request} kind={undefined} isLong />
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
      {decisions.length > 0 && (
        <div className="part-actions">
          {decisions.map((one, index) => (
            <Button key={one.text} className={index === 0 ? 'primary' : ''} onClick={() => act(one)}>
              {one.text}
            </Button>
          ))}
        </div>
      )}
    </section>
  );
}
