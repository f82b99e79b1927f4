import { queryOf, rowsOf } from '@tandem/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Icon } from '../ui/icons.js';
import { Failure, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { useNames } from './names.js';
import { t } from '../texts/texts.js';

const SHOWN = 50;

/** The messages that people have reported, for admins. */
export function Reports() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        className="icon-button"
        aria-label={t('chat.reports.title')}
        title={t('chat.reports.title')}
        onClick={() => setOpen(true)}
      >
        <Icon name="flag" />
      </Button>
      {isOpen && <ReportsDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function ReportsDialog({ onClose }: { onClose(): void }) {
  const { client } = useSession();
  const { chat } = client.api;
  const loading = useQuery({
    queryKey: ['reports'],
    staleTime: 0,
    queryFn: async () => {
      const { parameters } = queryOf('chat.listReports').top(SHOWN);
      return rowsOf(await chat.listReports.query({ status: 'open', ...parameters }), parameters);
    },
  });
  const deciding = useMutation({
    mutationFn: (given: { reportId: string; status: 'resolved' | 'dismissed' }) => chat.patchReport.mutate(given),
    onSettled: () => loading.refetch(),
  });
  const { data } = loading;
  const personOf = useNames(data?.value.flatMap(({ senderId, reporterId }) => [senderId, reporterId]) ?? [], '');
  return (
    <Dialog title={t('chat.reports.title')} onClose={onClose}>
      <QueryFailure of={[loading]} />
      {!data && !loading.error && <Loading what={t('chat.loading.reports')} />}
      {data?.value.length === 0 && <p>{t('chat.reports.none')}</p>}
      <ul className="panel-list reports">
        {data?.value.map(({ id, content, reason, senderId, reporterId, createdAt }) => (
          <li key={id}>
            <p className="quoted">
              <strong>{personOf(senderId).name}</strong>: {content}
            </p>
            <p>{reason}</p>
            <p className="hint">
              {personOf(reporterId).name}, <Time at={createdAt} />
            </p>
            <div className="notice-actions">
              <Button isOff={deciding.isPending} onClick={() => deciding.mutate({ reportId: id, status: 'resolved' })}>
                {t('chat.reports.resolved')}
              </Button>
              <Button isOff={deciding.isPending} onClick={() => deciding.mutate({ reportId: id, status: 'dismissed' })}>
                {t('chat.reports.dismiss')}
              </Button>
            </div>
          </li>
        ))}
      </ul>
      <Failure of={deciding.error} />
      <div className="dialog-actions">
        <Button onClick={onClose}>{t('ui.close')}</Button>
      </div>
    </Dialog>
  );
}
