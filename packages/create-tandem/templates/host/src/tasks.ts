import { admin, anyOf, defineErrors, notGuest, owner, router } from '@tandem/core';
import { askedBy, defineList, listIndexes, type ListQuery } from '@tandem/lists';
import {
  Id,
  Name,
  allServices,
  createRoute,
  defineRecord,
  defineService,
  deleteRoute,
  field,
  getRoute,
  listRoute,
  madeIn,
  patchRoute,
  restoreRoute,
  serverField,
  type StoredFields,
} from '@tandem/services';
import { defineModel, newId, present, type Live } from '@tandem/storage';
import { z } from 'zod';

// Each field once: its checks, its text in the documents, how it is stored, and what lists may ask of it.
const record = defineRecord('tasks', {
  fields: {
    ownerId: serverField(Id, { stored: { type: String, required: true }, list: 'string' }),
    title: field(Name.describe('What is to be done.'), { list: 'string' }),
    done: field(z.boolean().describe('Whether it is done.'), { optional: true, shown: z.boolean(), list: 'boolean' }),
  },
});

// `Live` records are soft-deleted: no query finds them any more, and admins can restore them.
export interface TaskRecord extends Live, StoredFields<typeof record> {
  ownerId: string;
  done: boolean;
}

// The indexes that serve the list: of all tasks, and of the tasks of one owner.
const model = defineModel<TaskRecord>('tasks', {
  fields: record.stored,
  // gives each a version: its answers have an `ETag`, and `If-Match` keeps a change from overwriting another's; its changes make events
  traced: { kind: 'task' },
  // tasks are in the export of their owner's data, and go with the erasure of the account; `cleared` is what their events lose
  people: { ownerId: { erased: 'remove', cleared: { title: '' } } },
  indexes: [
    ...listIndexes(record.resource, { by: ['ownerId'] }),
    { keys: { ownerId: 1 }, deletedToo: true, serves: 'all tasks of a person' },
  ],
});

const Task = record.schema.meta({ id: 'Task' });
const idInput = z.strictObject({ taskId: Id });
const newTask = z.strictObject(record.given);
const taskPatch = z.strictObject({ taskId: Id, ...record.patch });
const list = defineList(record.resource, { row: Task });
const errors = defineErrors('tasks', { notFound: [404, 'Task not found'] });

// The words and schemas of its routes.
const task = { one: 'task', many: 'tasks', output: Task, idInput, errors };

/** Tasks, each of the identity that has created it. */
export const tasks = defineService({
  name: 'tasks',
  description: 'What people have to do.',
  needs: [allServices],
  lists: { list },
  tells: ['task'],
  errors: { tasks: errors },

  /** The logic, without HTTP. `tandem.services.tasks` for other code of this application. */
  create({ storage, lists, notifications }) {
    const Tasks = storage.model(model);
    // `GET /events`, webhooks and `on` of `createTandem` tell of changes
    lists.tell('task', list, { show: present<TaskRecord> });
    const showOne = lists.one(list, present<TaskRecord>);
    const find = async (id: string) => Tasks.findById(id).lean<TaskRecord>();

    return {
      tasks: {
        find,
        get: async (id: string) => showOne(await find(id), errors.notFound),

        /** @param scope whose tasks; empty for all */
        list: (scope: { ownerId?: string }, query: ListQuery) =>
          lists.answer(list, Tasks, { scope, show: present<TaskRecord> }, query),

        async create(ownerId: string, given: z.infer<typeof newTask>, _id = newId(storage.clock)) {
          const created = await Tasks.create({ _id, ownerId, ...given });
          return present<TaskRecord>(created.toObject());
        },

        // what a call has stored that did not get its answer, when it is sent again with its `Idempotency-Key`
        made: madeIn(Tasks, present<TaskRecord>),

        async patch(id: string, $set: { done?: boolean }) {
          const before = await Tasks.findByIdAndUpdate(id, { $set }, { returnDocument: 'before' }).lean<TaskRecord>();
          const changed = showOne(await find(id), errors.notFound);
          // of several that say so at once, one finds it undone
          if (before && !before.done && $set.done)
            await notifications.notify(changed.ownerId, { kind: 'task.done', title: changed.title });
          return changed;
        },

        async delete(_id: string) {
          const { deletedCount } = await Tasks.deleteOne({ _id });
          if (deletedCount === 0) throw errors.notFound();
        },

        restore: async (id: string) => showOne(await Tasks.restore(id), errors.notFound),
      },
    };
  },

  /** Each procedure answers typed tRPC calls and its REST route, and is in the OpenAPI document. */
  router({ tasks: service }) {
    const own = anyOf(
      admin,
      owner('taskId', async (id) => (await service.find(id))?.ownerId, 'the owner of the task'),
    );
    return router({
      create: createRoute(task, 'POST /tasks', newTask, { made: service.made, allow: [notGuest] }).mutation(({ ctx, input }) =>
        service.create(ctx.identity.id, input, ctx.newId?.()),
      ),

      list: listRoute(task, 'GET /tasks', list, { summary: 'List one’s own tasks; admins see all' }).query(({ ctx, input }) => {
        const isAdmin = ctx.identity.typeId === ctx.server.typeIds.admin;
        return service.list(isAdmin ? {} : { ownerId: ctx.identity.id }, askedBy(ctx, input));
      }),

      get: getRoute(task, 'GET /tasks/{taskId}', { allow: [own] }).query(({ input }) => service.get(input.taskId)),

      patch: patchRoute(task, 'PATCH /tasks/{taskId}', taskPatch, { allow: [own] }).mutation(
        ({ input: { taskId, ...changes } }) => service.patch(taskId, changes),
      ),

      delete: deleteRoute(task, 'DELETE /tasks/{taskId}', { allow: [own] }).mutation(({ input }) => service.delete(input.taskId)),

      restore: restoreRoute(task, 'POST /tasks/{taskId}/restore').mutation(({ input }) => service.restore(input.taskId)),
    });
  },
});
