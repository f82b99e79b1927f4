import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Failure } from '../ui/notices.js';
import { membersKey } from './chat.js';
import { useMembers } from './members.js';
import { PeopleSearch } from './people-search.js';
import { t } from '../texts/texts.js';

/** Adds people to a channel. */
export function AddMember({ channelId }: { channelId: string }) {
  const { client } = useSession();
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { data } = useMembers(channelId);
  const adding = useMutation({
    mutationFn: (subscribedId: string) => client.api.chat.createSubscription.mutate({ channelId, subscribedId }),
    onSettled: () => queries.invalidateQueries({ queryKey: membersKey(channelId) }),
  });
  return (
    <section className="panel-section" aria-label={t('chat.members.add')}>
      <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {t('chat.members.add')}
      </Button>
      <Failure of={adding.error} />
      {isOpen && (
        <PeopleSearch
          label={t('chat.members.who')}
          without={data?.map(({ subscribedId }) => subscribedId) ?? []}
          renderAction={(identityId, name) => (
            <Button
              aria-label={t('chat.members.addOne', { name })}
              isOff={adding.isPending}
              onClick={() => adding.mutate(identityId)}
            >
              {t('ui.add')}
            </Button>
          )}
        />
      )}
    </section>
  );
}
