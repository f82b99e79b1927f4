import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { Loading } from '../ui/notices.js';
import { Panel } from '../ui/panel.js';
import { QueryFailure } from '../ui/query-failure.js';
import type { Input, Row } from './call.js';
import type { Kind } from './definitions.js';
import { Details, RecordActions, State, headingOf, useRecord } from './record-parts.js';
import { oneText, titleOf } from './words.js';
import { t } from '../texts/texts.js';

/** The record that is shown beside its list, as the address says it, and how to show another or none. */
export function usePeek(): [id: string, show: (id: string) => void] {
  const { peek = '' } = useSearch({ strict: false }) as { peek?: string };
  const go = useNavigate();
  const show = useCallback(
    (id: string) => void go({ to: '.', search: (present: object) => ({ ...present, peek: id }), resetScroll: false }),
    [go],
  );
  return [peek, show];
}

interface PeekButtonProps {
  row: Row;
  isOpen: boolean;
  show(id: string): void;
}

/** Shows a record beside its list. */
export function PeekButton({ row, isOpen, show }: PeekButtonProps) {
  const label = t('records.peek.one', { title: titleOf(row) });
  return (
    <Button
      className="quiet icon-button peek-button"
      aria-label={label}
      title={label}
      aria-expanded={isOpen}
      onClick={() => show(String(row['id']))}
    >
      <Icon name="peek" />
    </Button>
  );
}

interface PeekProps {
  kind: Kind;
  id: string;
  above: Input;
  address: string | undefined;
  onClose(): void;
}

/** A record beside its list: what it is, and what can be done with it. */
export function Peek({ kind, id, above, address, onClose }: PeekProps) {
  const { read, record, version } = useRecord(kind, id, above);
  return (
    <div className="peek">
      <Panel title={record ? headingOf(kind, record) : oneText(kind.name)} of={id} onClose={onClose}>
        <div className="panel-body record">
          <QueryFailure of={[read]} />
          {!record && !read.error && <Loading what={oneText(kind.name)} />}
          {record && (
            <>
              <p className="peek-head">
                <State of={record} />
                {address !== undefined && <Link to={address}>{t('records.peek.open')}</Link>}
                <RecordActions {...{ kind, record, version, above }} onGone={onClose} />
              </p>
              <Details kind={kind} record={record} above={above} />
            </>
          )}
        </div>
      </Panel>
    </div>
  );
}
