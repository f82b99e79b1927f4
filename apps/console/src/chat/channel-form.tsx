import { uploadFile } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { useSession } from '../session/session.js';
import { Avatar } from '../ui/avatar.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { Failure } from '../ui/notices.js';
import { useChat } from './chat.js';
import { useRoom } from './room.js';
import { t } from '../texts/texts.js';

/** The name and the picture of a channel, and whether anybody may join it. */
export function ChannelForm() {
  const { client } = useSession();
  const { chat } = client.api;
  const { show } = useChat();
  const { channel } = useRoom();
  const { id: channelId, name, icon, open, direct } = channel;
  const picture = useRef<HTMLInputElement>(null);
  const changing = useMutation({
    async mutationFn(change: () => Promise<Parameters<typeof chat.patchChannel.mutate>[0]>) {
      const changed = await chat.patchChannel.mutate(await change());
      show({ type: 'channel.updated', channelId, channel: changed });
    },
  });
  return (
    <section className="panel-section" aria-label={t('chat.settings.title')}>
      <h3>{t('chat.settings.title')}</h3>
      <div className="channel-picture">
        <Avatar of={channelId} name={name} url={icon?.url ?? null} className="avatar-large" />
        <Button isOff={changing.isPending} onClick={() => picture.current?.click()}>
          {t(icon ? 'chat.settings.changePicture' : 'chat.settings.choosePicture')}
        </Button>
        {icon && (
          <Button isOff={changing.isPending} onClick={() => changing.mutate(async () => ({ channelId, icon: null }))}>
            {t('ui.remove')}
          </Button>
        )}
        <input
          ref={picture}
          type="file"
          accept="image/*"
          hidden
          aria-label={t('chat.settings.picture')}
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            target.value = '';
            if (file)
              changing.mutate(async () => ({
                channelId,
                icon: await uploadFile(chat.channelIconUploadUrl, { channelId }, file),
              }));
          }}
        />
      </div>
      <form
        className="channel-form"
        key={`${name} ${open}`}
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget);
          const changed = (given.get('name') as string).trim();
          if (!changing.isPending)
            changing.mutate(async () => ({
              channelId,
              name: changed,
              ...(!direct && { open: given.get('open') === 'on' }),
            }));
        }}
      >
        <Field
          label={t('chat.settings.name')}
          name="name"
          defaultValue={name}
          required
          maxLength={200}
          pattern=".*\S.*"
          autoComplete="off"
        />
        {!direct && (
          <label className="check">
            <input type="checkbox" name="open" defaultChecked={open} /> {t('chat.channels.anybody')}
          </label>
        )}
        <Failure of={changing.error} />
        <Button type="submit" isOff={changing.isPending}>
          {t('ui.save')}
        </Button>
      </form>
    </section>
  );
}
