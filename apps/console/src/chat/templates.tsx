import { queryOf, rowsOf, type RouterOutputs } from '@tandem/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMe } from '../session/me.js';
import { useIdentityId, useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Choice, Field } from '../ui/field.js';
import { Icon } from '../ui/icons.js';
import { Failure, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { EditTemplate } from './edit-template.js';
import { Undo } from './undo.js';
import { t } from '../texts/texts.js';

/** Most templates, and most organizations of which they are. */
const [MANY, ORGANIZATIONS] = [100, 10];
/** For everybody: admins keep these. */
const ALL = '';

export type Template = RouterOutputs['chat']['listMessageTemplates']['data'][number];

/** Where the person keeps templates: its organizations, as the pairs of a choice. Loaded once. */
function useTemplatePlaces() {
  const { client } = useSession();
  const identityId = useIdentityId();
  const { data: me } = useMe();
  const { data } = useQuery({
    queryKey: ['managed-organizations', identityId],
    staleTime: Infinity,
    queryFn: async () => {
      const { parameters } = queryOf('organizations.listOfIdentity').top(ORGANIZATIONS);
      const input = { identityId, roles: 'owner,admin', ...parameters };
      const { value } = rowsOf(await client.api.organizations.listOfIdentity.query(input), parameters);
      return value.map(({ organization }) => [organization.id, organization.name] as const);
    },
  });
  const isAdmin = me?.isAdmin === true;
  return { isAdmin, places: [...(isAdmin ? [[ALL, t('chat.templates.everybody')] as const] : []), ...(data ?? [])] };
}

interface TemplatesProps {
  /** What is in the composer. */
  text: string;
  onInsert(text: string): void;
}

/** Texts to use again, of the organizations that one manages. Nobody else may read them. */
export function Templates({ text, onInsert }: TemplatesProps) {
  const { isAdmin, places } = useTemplatePlaces();
  const [isOpen, setOpen] = useState(false);
  if (places.length === 0) return null;
  return (
    <>
      <Button
        className="icon-button quiet"
        aria-label={t('chat.templates.title')}
        title={t('chat.templates.title')}
        onClick={() => setOpen(true)}
      >
        <Icon name="template" />
      </Button>
      {isOpen && (
        <TemplatesDialog
          isAdmin={isAdmin}
          places={places}
          text={text}
          onClose={() => setOpen(false)}
          onInsert={(content) => {
            setOpen(false);
            // once the dialog has given the focus back
            setTimeout(() => onInsert(content));
          }}
        />
      )}
    </>
  );
}

interface TemplatesDialogProps extends TemplatesProps {
  isAdmin: boolean;
  places: readonly (readonly [id: string, name: string])[];
  onClose(): void;
}

function TemplatesDialog({ isAdmin, places, text, onInsert, onClose }: TemplatesDialogProps) {
  const { client } = useSession();
  const { chat } = client.api;
  const queries = useQueryClient();
  const queryKey = ['message-templates', isAdmin, ...places.map(([id]) => id)];
  const [editing, setEditing] = useState<Template>();
  const [deleted, setDeleted] = useState<Template>();
  const loading = useQuery({
    queryKey,
    queryFn: async (): Promise<readonly Template[]> => {
      const { parameters } = queryOf('chat.listMessageTemplates').top(MANY);
      if (isAdmin) return rowsOf(await chat.listMessageTemplates.query(parameters), parameters).value;
      const lists = places.map(async ([organizationId]) => {
        const answer = await chat.listMessageTemplatesOfOrganization.query({ organizationId, ...parameters });
        return rowsOf(answer, parameters).value;
      });
      return (await Promise.all(lists)).flat();
    },
  });
  const changed = () => queries.invalidateQueries({ queryKey });
  const restoring = useMutation({
    mutationFn: ({ id }: Template) => chat.restoreMessageTemplate.mutate({ messageTemplateId: id }),
    async onSuccess() {
      setDeleted(undefined);
      await changed();
    },
  });
  const { data: templates } = loading;
  const nameOf = (id: string | null) => places.find(([one]) => one === (id ?? ALL))?.[1];
  if (editing)
    return (
      <EditTemplate
        template={editing}
        onDeleted={() => setDeleted(editing)}
        onEnd={() => {
          setEditing(undefined);
          void changed();
        }}
      />
    );
  return (
    <Dialog title={t('chat.templates.title')} onClose={onClose}>
      {isAdmin && deleted && (
        <Undo isOff={restoring.isPending} error={restoring.error} onUndo={() => restoring.mutate(deleted)}>
          {t('chat.templates.deleted')}
        </Undo>
      )}
      <QueryFailure of={[loading]} />
      {!templates && !loading.error && <Loading what={t('chat.loading.templates')} />}
      {templates?.length === 0 && <p className="hint">{t('chat.templates.none')}</p>}
      <ul className="panel-list templates">
        {templates?.map((template) => (
          <li key={template.id}>
            <button type="button" className="template" onClick={() => onInsert(template.content)}>
              <strong>{template.title}</strong>
              <span>{template.content}</span>
              <span className="hint">{nameOf(template.organizationId) ?? t('chat.templates.another')}</span>
            </button>
            <Button
              className="quiet"
              aria-label={t('chat.templates.changeOne', { title: template.title })}
              onClick={() => setEditing(template)}
            >
              {t('chat.templates.change')}
            </Button>
          </li>
        ))}
      </ul>
      {text.trim() !== '' && <SaveTemplate text={text.trim()} places={places} onSaved={() => void changed()} />}
      <div className="dialog-actions">
        <Button onClick={onClose}>{t('ui.close')}</Button>
      </div>
    </Dialog>
  );
}

interface SaveTemplateProps extends Pick<TemplatesDialogProps, 'text' | 'places'> {
  onSaved(): void;
}

/** Keeps what is written as a template. */
function SaveTemplate({ text, places, onSaved }: SaveTemplateProps) {
  const { client } = useSession();
  const [place, setPlace] = useState(places[0]?.[0] ?? ALL);
  const saving = useMutation({
    mutationFn: (title: string) =>
      client.api.chat.createMessageTemplate.mutate({
        title,
        content: text,
        ...(place !== ALL && { organizationId: place }),
      }),
    onSuccess: onSaved,
  });
  if (saving.isSuccess) return null;
  return (
    <form
      className="save-template"
      onSubmit={(event) => {
        event.preventDefault();
        if (!saving.isPending) saving.mutate((new FormData(event.currentTarget).get('title') as string).trim());
      }}
    >
      <h3>{t('chat.templates.saveTitle')}</h3>
      <p className="quoted">{text}</p>
      <Field label={t('chat.templates.titleField')} name="title" required maxLength={200} pattern=".*\S.*" autoComplete="off" />
      {places.length > 1 && <Choice label={t('chat.templates.for')} value={place} options={places} onChange={setPlace} />}
      <Failure of={saving.error} />
      <Button type="submit" isOff={saving.isPending}>
        {t('chat.templates.save')}
      </Button>
    </form>
  );
}
