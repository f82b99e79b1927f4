import { useNavigate } from '@tanstack/react-router';
import type { Operation } from '../reference/reference.js';
import { useMe } from '../session/me.js';
import type { Act } from './acts.js';
import { textOf } from './acts.js';
import type { Input, Row } from './call.js';
import { paramsOf, useDefinitions, type Definitions, type Kind, type RecordList } from './definitions.js';
import { useEffects } from './effects.js';
import { inputFieldsOf } from './inputs.js';
import { isOffered } from './kinds.js';
import { oneText, titleOf } from './words.js';
import { t } from '../texts/texts.js';

/** Uploads and tickets are used by forms and streams, not by people. */
const ISNT_FOR_PEOPLE =
  /(UploadUrl|Ticket|passkeyOptions|addPasskey|confirmTotp|auth\.prove|auth\.linkProvider|markReadUpTo|markRead|readState)$/;

/** Whether an operation is offered to the signed-in person, about the record that an input names. */
export function useOffered(): (operation: Operation, given: Input) => boolean {
  const { data: me } = useMe();
  return ({ id, who }, given) => {
    if (!me || ISNT_FOR_PEOPLE.test(id)) return false;
    const self = given['identityId'];
    return isOffered(who, me.isAdmin, self === undefined ? undefined : self === me.id);
  };
}

/** What can be done with a record of a kind. */
export function useRecordActs(): (kind: Kind, record: Row, given: Input) => Act[] {
  const isOn = useOffered();
  const { move, removal } = useEffects(isOn);
  return (kind, record, above) => {
    const given = { ...above, [kind.param]: record['id'] };
    const title = titleOf(record);
    const fits = (operation: Operation) =>
      isOn(operation, given) && paramsOf(operation.path).every((name) => Object.hasOwn(given, name));
    const acts = kind.actions
      .filter((operation) => fits(operation) && isSensible(operation, record))
      .map((operation): Act => ({
        operation,
        given,
        text: textOf(operation),
        title,
        present: operation.method === 'PATCH' ? record : undefined,
        isDangerous: operation.method === 'DELETE',
        effect: move(operation, given, record),
      }));
    const { remove } = kind;
    if (remove && isOn(remove, given))
      acts.push({
        operation: remove,
        given,
        text: t('ui.delete'),
        title,
        isDangerous: true,
        effect: removal(kind, above, [record]),
      });
    return acts;
  };
}

/** What makes a record of a kind, which is shown then; undefined where one may not. */
export function useCreateAct(): (kind: Kind) => Act | undefined {
  const { data: me } = useMe();
  const isOn = useOffered();
  const go = useNavigate();
  return ({ create, name, parents }) => {
    if (!me || !create || parents.length > 0 || !isOn(create, {})) return undefined;
    // whose it is, until somebody else is chosen
    const proposed = { identityId: me.id, ownerId: me.id };
    const onDone = (made: unknown) => {
      const { id } = (made ?? {}) as { id?: unknown };
      if (typeof id === 'string') void go({ to: `/${name}/${id}` });
    };
    return { operation: create, given: {}, text: t('records.act.new', { one: oneText(name) }), proposed, onDone };
  };
}

/** Pairs of which only one is of use: what is locked is unlocked. */
function isSensible({ id }: Operation, { locked, deactivatedAt, status }: Row): boolean {
  const isDeactivated = typeof deactivatedAt === 'string';
  const useful: Record<string, boolean> = {
    'identities.lock': locked !== true,
    'identities.unlock': locked === true,
    'auth.activate': isDeactivated,
    'auth.deactivate': !isDeactivated,
    'auth.cancelErasure': isDeactivated,
    'categories.enable': status !== 'active',
    'categories.disable': status === 'active',
  };
  return useful[id] ?? true;
}

/** What can be done with a row of a list whose rows have no page of their own. */
export function useRowActs(): (list: RecordList, row: Row, given: Input) => Act[] {
  const definitions = useDefinitions();
  const isOn = useOffered();
  return (list, row, given) =>
    itemOperations(list, definitions).flatMap((operation): Act[] => {
      const [own = ''] = paramsOf(operation.path).filter((name) => !list.params.includes(name));
      const input = { ...given, [own]: row[own] ?? row['id'] };
      if (!isOn(operation, input) || operation.method === 'PUT' || input[own] === undefined) return [];
      return [
        { operation, given: input, text: textOf(operation), title: titleOf(row), isDangerous: operation.method === 'DELETE' },
      ];
    });
}

/** The operations at and below an entry of a list. */
function itemOperations({ operation: { path } }: RecordList, { operations }: Definitions): Operation[] {
  return [...operations.values()].filter((one) => one.path.startsWith(`${path}/{`));
}

/** What adds to a list: a POST or PATCH at its own address, or a PUT of an entry. */
export function useListActs(): (list: RecordList, given: Input) => Act[] {
  const definitions = useDefinitions();
  const isOn = useOffered();
  return (list, given) => {
    const { path } = list.operation;
    const all = [...definitions.operations.values()];
    const added = all.filter(
      (one) =>
        (one.path === path && (one.method === 'POST' || one.method === 'PATCH')) ||
        (one.method === 'PUT' && one.path.startsWith(`${path}/{`)),
    );
    return added
      .filter((operation) => isOn(operation, given))
      .map((operation) => {
        const known = inputFieldsOf(operation, {}, definitions).map(({ name }) => name);
        const fitting = Object.entries(given).filter(([name]) => known.includes(name));
        return { operation, given: Object.fromEntries(fitting), text: textOf(operation) };
      });
  };
}
