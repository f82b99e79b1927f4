import { Link } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { isId } from '../ids.js';
import { useSession } from '../session/session.js';
import { Time } from '../ui/time.js';
import type { Row } from './call.js';
import { kindNamedBy, useDefinitions, type Kind } from './definitions.js';
import { OWN } from './own-data.js';
import { fieldText, inWords, kindText, labelOf, shortId, titleOf, valueText } from './words.js';
import { money, numberText } from '../texts/formats.js';
import { t, term } from '../texts/texts.js';

/** A time as the server shows it. People write texts that only look like one. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const isTime = (value: string) => TIME.test(value) && !Number.isNaN(Date.parse(value));
const ADDRESS = /^https?:\/\//;
/** Fields whose texts are states: shown as tags. */
const STATES = /^(status|state|type|typeId|role|auditStatus)$/;
const BAD = new Set(['cancelled', 'rejected', 'failed', 'banned', 'inactive', 'open']);

type Fields = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

interface Money {
  amount: number;
  currency: string;
}
const isMoney = (value: unknown): value is Money =>
  isRecord(value) && typeof value['amount'] === 'number' && typeof value['currency'] === 'string';

interface File {
  url: string;
  type: string;
}
export const isFile = (value: unknown): value is File =>
  isRecord(value) && typeof value['url'] === 'string' && typeof value['type'] === 'string' && 'createdAt' in value;

/** The value at a path: `price.amount`. */
export function valueAt(row: Row, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), row);
}

/** The first picture of a record, for a small image beside its name. */
export function pictureOf(record: Row, field: string | undefined): string | undefined {
  const value = field === undefined ? (record['avatarUrl'] ?? record['avatar']) : record[field];
  const file: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof file === 'string' && ADDRESS.test(file)) return file;
  return isFile(file) && file.type.startsWith('image/') ? file.url : undefined;
}

/** A related record that a row shows with its own, by its id. */
function relatedIn(row: Row, id: string): Fields | undefined {
  for (const value of Object.values(row))
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value])
      if (isRecord(one) && one['id'] === id && Object.keys(one).length > 1) return one;
  return undefined;
}

/** A value in a text. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return t('records.none');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface ReferenceProps {
  id: string;
  kind: Kind | undefined;
  row?: Row | undefined;
}

/** A link to a record, by the name that the row shows of it; of people by their cards. */
export function RecordLink({ id, kind, row = {} }: ReferenceProps) {
  const { people } = useSession();
  const related = relatedIn(row, id);
  const isPerson = kind?.name === 'identities';
  const { data: card } = useQuery({
    queryKey: ['card', id],
    enabled: isPerson && related === undefined,
    staleTime: Infinity,
    queryFn: () => people.get(id),
  });
  const name = related ? titleOf(related) : (card?.name ?? shortId(id));
  if (!kind) return <code>{name}</code>;
  return <Link to={kind.name === 'channels' ? `/chat/${id}` : `/${kind.name}/${id}`}>{name}</Link>;
}

interface ValueProps {
  value: unknown;
  field: string;
  row: Row;
  kind: Kind | undefined;
  /** The operation of the list that shows it. */
  list?: string | undefined;
  /** Whether there is room for all of it. */
  isLong?: boolean;
}

/** A value of a record, as a person reads it. */
export function Value({ value, field, row, kind, list, isLong = false }: ValueProps) {
  const definitions = useDefinitions();
  if (value === null || value === undefined || value === '') return <span className="nothing">—</span>;
  if (typeof value === 'boolean')
    return <span className={value ? 'tag' : 'tag tag-plain'}>{t(value ? 'records.yes' : 'records.no')}</span>;
  if (isMoney(value)) return <span className="number">{money(value.amount, value.currency)}</span>;
  if (typeof value === 'number') {
    const { currency } = row;
    const isAmount = typeof currency === 'string' && /^(total|subtotal|tax|price)$/.test(field);
    return <span className="number">{isAmount ? money(value, currency) : numberText(value)}</span>;
  }
  if (typeof value === 'string') {
    if (field === 'id') return <code>{shortId(value)}</code>;
    if (isId(value)) return <RecordLink id={value} kind={kindNamedBy(field, kind, definitions)} row={row} />;
    if (isTime(value)) return <Time at={value} length={isLong ? 'long' : 'narrow'} />;
    if (STATES.test(field))
      return <span className={BAD.has(value) ? 'tag tag-bad' : 'tag'}>{valueText(value, field, list)}</span>;
    const text = term('values', `${field}.${String(value)}`) ?? value;
    return isLong ? <span className="text">{text}</span> : text;
  }
  if (Array.isArray(value)) return <Values {...{ value, field, row, kind, isLong }} />;
  if (isFile(value))
    return value.type.startsWith('image/') ? (
      <img className={isLong ? 'picture' : 'thumb'} src={value.url} alt="" loading="lazy" />
    ) : (
      <a href={value.url}>{t('records.file', { type: value.type })}</a>
    );
  const parts = Object.entries(value as Fields);
  if (parts.length === 0) return <span className="nothing">—</span>;
  if (!isLong)
    return parts
      .map(([name, part]) => `${(OWN.test(field) ? undefined : term('fields', name)) ?? name}: ${plainText(part)}`)
      .join(', ');
  return (
    <dl className="parts">
      {parts.map(([name, part]) => (
        <div key={name}>
          <dt>{OWN.test(field) ? inWords(name) : fieldText(name)}</dt>
          <dd>
            <Value value={part} field={name} row={row} kind={kind} isLong />
          </dd>
        </div>
      ))}
    </dl>
  );
}

const SHOWN_OF_MANY = 3;

function Values({ value, field, row, kind, isLong = false }: ValueProps & { value: unknown[] }) {
  if (value.length === 0) return <span className="nothing">—</span>;
  const isOfRecords = value.every((one): one is Fields => isRecord(one) && !isFile(one));
  if (isOfRecords && isLong) return <PartsTable parts={value} row={row} kind={kind} />;
  if (isOfRecords && !isLong)
    return value.length === 1
      ? titleOf(value[0] as Row)
      : t('records.several', { count: value.length, many: kindText(field).toLowerCase() });
  const shown = isLong ? value : value.slice(0, SHOWN_OF_MANY);
  return (
    <ul className={isLong ? 'values values-long' : 'values'}>
      {shown.map((one, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- values without a key of their own, shown as they are
        <li key={index}>
          <Value value={one} field={field} row={row} kind={kind} isLong={isLong} />
        </li>
      ))}
      {value.length > shown.length && <li className="nothing">+{value.length - shown.length}</li>}
    </ul>
  );
}

/** Several parts with the same fields: the items of an order. */
function PartsTable({ parts, row, kind }: { parts: readonly Fields[]; row: Row; kind: Kind | undefined }) {
  // a related record is shown by its id
  const names = [...new Set(parts.flatMap((part) => Object.keys(part)))].filter((name) =>
    parts.some((part) => part[name] !== null && !isRecord(part[name])),
  );
  return (
    <div className="parts-box">
      <table className="parts-table">
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col">
                {labelOf(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {parts.map((part, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- parts without a key of their own, shown as they are
            <tr key={index}>
              {names.map((name) => (
                <td key={name}>
                  <Value value={part[name]} field={name} row={{ ...row, ...part }} kind={kind} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
