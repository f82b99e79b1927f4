import type { ChatMessage } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { useId } from 'react';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Failure, Good } from '../ui/notices.js';
import { t } from '../texts/texts.js';

interface ReportMessageProps {
  message: ChatMessage;
  onClose(): void;
}

/** Tells the admins what is wrong with a message. */
export function ReportMessage({ message: { id: messageId, content }, onClose }: ReportMessageProps) {
  const { client } = useSession();
  const id = useId();
  const reporting = useMutation({
    mutationFn: (reason: string) => client.api.chat.createReport.mutate({ messageId, reason }),
  });
  return (
    <Dialog title={t('chat.reports.one')} onClose={onClose}>
      <p className="quoted">{content}</p>
      {reporting.isSuccess ? (
        <>
          <Good>{t('chat.reports.told')}</Good>
          <div className="dialog-actions">
            <Button className="primary" onClick={onClose}>
              {t('ui.close')}
            </Button>
          </div>
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (!reporting.isPending) reporting.mutate((new FormData(event.currentTarget).get('reason') as string).trim());
          }}
        >
          <div className="field">
            <label htmlFor={id}>{t('chat.reports.what')}</label>
            <textarea id={id} name="reason" required maxLength={1000} rows={3} />
          </div>
          <Failure of={reporting.error} />
          <div className="dialog-actions">
            <Button onClick={onClose}>{t('ui.cancel')}</Button>
            <Button type="submit" className="primary" isOff={reporting.isPending}>
              {t('chat.reports.action')}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
