import { useMutation, useMutationState, useQueryClient } from '@tanstack/react-query';
import { useSession } from '../session/session.js';
import { useChat } from './chat.js';
import { Undo } from './undo.js';
import { t } from '../texts/texts.js';

/** Of the channels that were deleted on this page. */
export const deletedKey = ['delete-channel'] as const;

/** Says that a channel was deleted, and restores it: for admins. */
export function DeletedChannel() {
  const { client } = useSession();
  const { refresh } = useChat();
  const mutations = useQueryClient().getMutationCache();
  const filters = { mutationKey: deletedKey, status: 'success' } as const;
  const channelId = useMutationState({ filters, select: ({ state }) => state.variables as string }).at(-1);
  const forget = () => mutations.findAll(filters).forEach((one) => mutations.remove(one));
  const restoring = useMutation({
    mutationFn: (id: string) => client.api.chat.restoreChannel.mutate({ channelId: id }),
    async onSuccess() {
      forget();
      await refresh();
    },
  });
  if (channelId === undefined) return null;
  return (
    <Undo isOff={restoring.isPending} error={restoring.error} onUndo={() => restoring.mutate(channelId)} onEnd={forget}>
      {t('chat.channels.deleted')}
    </Undo>
  );
}
