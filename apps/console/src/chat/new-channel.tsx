import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useIdentityId, useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { Icon } from '../ui/icons.js';
import { Failure } from '../ui/notices.js';
import { useChat } from './chat.js';
import { PeopleSearch } from './people-search.js';
import { t } from '../texts/texts.js';

/** Makes a channel, and goes there. */
function useOpening<Given>(open: (given: Given) => Promise<{ id: string }>, close: () => void) {
  const { refresh } = useChat();
  const go = useNavigate();
  return useMutation({
    async mutationFn(given: Given) {
      const { id } = await open(given);
      await refresh();
      return id;
    },
    onSuccess(id) {
      close();
      void go({ to: `/chat/${id}` });
    },
  });
}

export function NewChannel() {
  const { client } = useSession();
  const ownerId = useIdentityId();
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const creating = useOpening(
    (given: { name: string; open: boolean }) => client.api.chat.createChannel.mutate({ ...given, ownerId }),
    close,
  );
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <Icon name="plus" /> {t('chat.channels.new')}
      </Button>
      {isOpen && (
        <Dialog title={t('chat.channels.new')} onClose={close}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (creating.isPending) return;
              const given = new FormData(event.currentTarget);
              creating.mutate({ name: (given.get('name') as string).trim(), open: given.get('open') === 'on' });
            }}
          >
            <Field label={t('chat.channels.name')} name="name" required maxLength={200} pattern=".*\S.*" autoComplete="off" />
            <label className="check">
              <input type="checkbox" name="open" /> {t('chat.channels.anybody')}
            </label>
            <Failure of={creating.error} />
            <div className="dialog-actions">
              <Button onClick={close}>{t('ui.cancel')}</Button>
              <Button type="submit" className="primary" isOff={creating.isPending}>
                {t('chat.channels.create')}
              </Button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}

/** Opens the channel of two with somebody. */
export function NewDirect() {
  const { client } = useSession();
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const opening = useOpening((identityId: string) => client.api.chat.openDirectChannel.mutate({ identityId }), close);
  return (
    <>
      <Button
        className="icon-button"
        aria-label={t('chat.channels.direct')}
        title={t('chat.channels.direct')}
        onClick={() => setOpen(true)}
      >
        <Icon name="people" />
      </Button>
      {isOpen && (
        <Dialog title={t('chat.channels.direct')} onClose={close}>
          <PeopleSearch
            label={t('chat.channels.whom')}
            without={[]}
            renderAction={(identityId, name) => (
              <Button
                aria-label={t('chat.channels.messageOne', { name })}
                isOff={opening.isPending}
                onClick={() => opening.mutate(identityId)}
              >
                {t('chat.channels.message')}
              </Button>
            )}
          />
          <Failure of={opening.error} />
          <div className="dialog-actions">
            <Button onClick={close}>{t('ui.cancel')}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
