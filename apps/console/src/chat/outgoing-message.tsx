import type { OutgoingMessage } from '@tandem/client';
import { Button } from '../ui/button.js';
import { failureText } from '../ui/failure-text.js';
import { useChat } from './chat.js';
import { t } from '../texts/texts.js';

/** An own message that is not stored yet, or that the server has refused. */
export function MessageOnItsWay({ message }: { message: OutgoingMessage }) {
  const { send, discard } = useChat();
  const { clientId, content, files = [], state } = message;
  const isRefused = state === 'failed';
  return (
    <li className={isRefused ? 'message message-refused' : 'message message-sending'}>
      <div className="message-main">
        <p className="message-body">{content}</p>
        {files.length > 0 && <p className="message-note">{t('chat.message.withFiles', { count: files.length })}</p>}
        {isRefused ? (
          <div role="alert" className="refused">
            <span>{t('chat.message.notSent', { why: failureText(message.error) })}</span>
            <Button className="link" onClick={() => send(message)}>
              {t('ui.tryAgain')}
            </Button>
            <Button className="link" onClick={() => discard(clientId)}>
              {t('chat.message.discard')}
            </Button>
          </div>
        ) : (
          <p className="message-note">{t('chat.message.sending')}</p>
        )}
      </div>
    </li>
  );
}
