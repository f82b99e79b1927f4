import type { ChatMessage } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { useId } from 'react';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Failure, Good } from '../ui/notices.js';

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
    <Dialog title="Report this message" onClose={onClose}>
      <p className="quoted">{content}</p>
      {reporting.isSuccess ? (
        <>
          <Good>The admins have been told.</Good>
          <div className="dialog-actions">
            <Button className="primary" onClick={onClose}>
              Close
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
            <label htmlFor={id}>What is wrong with it?</label>
            <textarea id={id} name="reason" required maxLength={1000} rows={3} />
          </div>
          <Failure of={reporting.error} />
          <div className="dialog-actions">
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" className="primary" isOff={reporting.isPending}>
              Report
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
