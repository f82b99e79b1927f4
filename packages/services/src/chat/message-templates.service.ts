import type { ListAnswer, ListQuery, Lists, ReadQuery } from '@tandem/lists';
import { defineDeletion, insertBelow, newId, present, type Storage } from '@tandem/storage';
import { organizationErrors } from '../organizations/organizations.errors.js';
import { madeIn } from '../shared/made-records.js';
import { givenOf } from '../shared/patching.js';
import { messageTemplateErrors as errors } from './message-templates.errors.js';
import { messageTemplateModel, type MessageTemplateRecord } from './message-template.model.js';
import {
  messageTemplateList,
  organizationTemplateList,
  type MessageTemplate,
  type MessageTemplatePatch,
  type NewMessageTemplate,
} from './message-templates.schemas.js';

export type MessageTemplatesService = ReturnType<typeof createMessageTemplatesService>;

interface MessageTemplatesOptions {
  storage: Storage;
  lists: Lists;
  organizationExists(organizationId: string): Promise<boolean>;
}

function show(record: MessageTemplateRecord): MessageTemplate {
  const { organizationId = null, ...template } = present(record);
  return { ...template, organizationId };
}

/** Message templates, global ones and those of organizations. */
export function createMessageTemplatesService({ storage, lists, organizationExists }: MessageTemplatesOptions) {
  const Templates = storage.model(messageTemplateModel);
  const deletion = defineDeletion(storage, messageTemplateModel, {
    notFound: errors.notFoundToChange,
    parentNotFound: organizationErrors.notFound,
  });
  const showOne = lists.one(messageTemplateList, show);
  lists.tell('messageTemplate', messageTemplateList, { show });

  /** @throws organizationErrors.notFound */
  async function expectOrganization(organizationId: string | null | undefined): Promise<void> {
    if (organizationId && !(await organizationExists(organizationId))) throw organizationErrors.notFound();
  }

  return {
    /** @throws organizationErrors.notFound */
    async create(given: NewMessageTemplate, _id = newId(storage.clock)): Promise<MessageTemplate> {
      const record = await insertBelow(Templates, { _id, ...given }, () => expectOrganization(given.organizationId));
      return show(record as MessageTemplateRecord);
    },

    made: madeIn(Templates, async (record) => {
      // the earlier attempt may have died before its own check
      await expectOrganization(record.organizationId);
      return show(record);
    }),

    /** All templates, of every organization and global. */
    list(query: ListQuery): Promise<ListAnswer<MessageTemplate>> {
      return lists.answer(messageTemplateList, Templates, { show }, query);
    },

    /** The templates of one organization, without the global ones. */
    listOfOrganization(organizationId: string, query: ListQuery): Promise<ListAnswer<MessageTemplate>> {
      return lists.answer(organizationTemplateList, Templates, { scope: { organizationId }, show }, query);
    },

    /** The organization of a live template, null if global; undefined when there is none. For access rules. */
    async organizationOf(messageTemplateId: string): Promise<string | null | undefined> {
      const found = await Templates.findById(messageTemplateId, { organizationId: 1 }).lean<MessageTemplateRecord>();
      return found && (found.organizationId ?? null);
    },

    /** @throws errors.notFound */
    async get(messageTemplateId: string, query?: ReadQuery): Promise<MessageTemplate> {
      return lists.find(messageTemplateList, Templates, { _id: messageTemplateId }, { show }, errors.notFound, query);
    },

    /** @throws errors.nothingToUpdate for an empty change, notFoundToChange */
    async patch(messageTemplateId: string, patch: MessageTemplatePatch): Promise<MessageTemplate> {
      const $set = givenOf(patch);
      if (Object.keys($set).length === 0) throw errors.nothingToUpdate();
      const after = { returnDocument: 'after' } as const;
      const record = await Templates.findByIdAndUpdate(messageTemplateId, { $set }, after).lean<MessageTemplateRecord>();
      return showOne(record, errors.notFoundToChange);
    },

    /** Soft-deletes a template. @throws errors.notFoundToChange */
    delete: (messageTemplateId: string): Promise<void> => deletion.delete([messageTemplateId]),

    /** @throws errors.notFoundToChange when there is nothing to restore, organizationErrors.notFound when its organization is deleted */
    async restore(messageTemplateId: string): Promise<MessageTemplate> {
      await deletion.restore(messageTemplateId);
      return showOne(await Templates.findById(messageTemplateId).lean<MessageTemplateRecord>(), errors.notFoundToChange);
    },
  };
}
