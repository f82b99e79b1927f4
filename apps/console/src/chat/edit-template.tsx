import { useMutation } from '@tanstack/react-query';
import { useId } from 'react';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { Failure } from '../ui/notices.js';
import type { Template } from './templates.js';
import { t } from '../texts/texts.js';

interface EditTemplateProps {
  template: Template;
  onEnd(): void;
  onDeleted(): void;
}

/** Changes or deletes a template. */
export function EditTemplate({ template: { id: messageTemplateId, title, content }, onEnd, onDeleted }: EditTemplateProps) {
  const { client } = useSession();
  const { chat } = client.api;
  const id = useId();
  const acting = useMutation({ mutationFn: (act: () => Promise<unknown>) => act(), onSuccess: onEnd });
  async function remove(): Promise<void> {
    await chat.deleteMessageTemplate.mutate({ messageTemplateId });
    onDeleted();
  }
  return (
    <Dialog title={t('chat.templates.changeTitle')} onClose={onEnd}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget);
          const changed = { title: given.get('title') as string, content: given.get('content') as string };
          acting.mutate(() => chat.patchMessageTemplate.mutate({ messageTemplateId, ...changed }));
        }}
      >
        <Field
          label={t('chat.templates.titleField')}
          name="title"
          defaultValue={title}
          required
          maxLength={200}
          autoComplete="off"
        />
        <div className="field">
          <label htmlFor={id}>{t('chat.templates.text')}</label>
          <textarea id={id} name="content" defaultValue={content} required maxLength={10_000} rows={4} />
        </div>
        <Failure of={acting.error} />
        <div className="dialog-actions">
          <Button className="danger" isOff={acting.isPending} onClick={() => acting.mutate(remove)}>
            {t('ui.delete')}
          </Button>
          <Button onClick={onEnd}>{t('ui.cancel')}</Button>
          <Button type="submit" className="primary" isOff={acting.isPending}>
            {t('ui.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
