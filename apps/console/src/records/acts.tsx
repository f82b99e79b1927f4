import { createContext, use, useMemo, useRef, useState, type ReactNode } from 'react';
import type { Operation } from '../reference/reference.js';
import { useWithProof } from '../security/proof.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { failureText } from '../ui/failure-text.js';
import { useTell } from '../ui/toasts.js';
import { useCall, useReload, type CallContext, type Input, type Row } from './call.js';
import { useChange } from './changes.js';
import { useDefinitions } from './definitions.js';
import type { Effect } from './effects.js';
import { inputFieldsOf } from './inputs.js';
import { useIsShown } from './is-shown.js';
import { OperationForm } from './operation-form.js';
import { editAfterOwn } from './own-edits.js';
import { Value } from './values.js';
import { inWords } from './words.js';
import { t, term } from '../texts/texts.js';

/** Something to do: an operation, and what is known of its input. */
export interface Act {
  operation: Operation;
  given: Input;
  /** What is done, as a button says it. */
  text: string;
  /** What it is done to. */
  title?: string | undefined;
  /** The record that is changed: its values stand in the form, and only changes are sent. */
  present?: Row | undefined;
  proposed?: Input | undefined;
  context?: CallContext | undefined;
  isDangerous?: boolean | undefined;
  /** What it makes of records, which is shown before the server has answered, and what takes it back. */
  effect?: Effect | ((input: Input) => Effect) | undefined;
  /** What was sent in vain: it stands in the form anew. */
  failed?: { input: Input; error: unknown } | undefined;
  /** Called once it is done, and the person has seen the answer; with an effect, once it is shown. */
  onDone?: ((answer: unknown) => void) | undefined;
  onFailure?: ((error: unknown, input: Input) => boolean) | undefined;
}

/** Begins an act, or one that is to be read first. */
type StartAct = (act: Act | Promise<Act>) => void;
const ActContext = createContext<StartAct | undefined>(undefined);

/** How to begin to do something: its form, or a question, comes first. @throws Error outside its provider */
export function useAct(): StartAct {
  const start = use(ActContext);
  if (!start) throw new Error('nothing can be done here');
  return start;
}

/** What buttons say where the name of an operation says it badly. */
const TEXTS: Readonly<Record<string, string>> = {
  'auth.addTotp': 'Add authenticator app',
  'auth.cancelErasure': 'Take erasure back',
  'auth.createKey': 'New API key',
  'auth.deleteFactors': 'Remove all second factors',
  'auth.deleteRefreshTokens': 'End all sessions',
  'auth.identityEvents': 'Security events',
  'auth.ottGenerate': 'Make a one-time token',
  'auth.requestExport': 'Export personal data',
  'auth.erase': 'Erase for good',
  'chat.createBan': 'Ban',
  'chat.createReport': 'Report',
  'chat.openDirectChannel': 'Open direct channel',
  'notifications.unreadCount': 'Count unread notifications',
  'organizations.approveChange': 'Approve',
  'organizations.createServiceAccount': 'New service account',
  'organizations.isMember': 'Check membership',
  'organizations.memberRole': 'Show role',
  'organizations.patchAsAdmin': 'Edit everything',
  'organizations.rejectChange': 'Reject',
  'organizations.requestChange': 'Request a change',
  'organizations.upsertMembers': 'Add members',
  'people.get': 'Show card',
  'productVariants.createMany': 'New variants',
  'productVariants.create': 'New variant',
  'webhooks.test': 'Send a test event',
};

/** `products.createMany` as "Create many". */
export function textOf({ id }: Operation): string {
  return term('operations', id) ?? TEXTS[id] ?? inWords(id.split('.').at(-1) ?? id);
}

/** What an operation does, in a sentence. */
const summaryOf = ({ id, summary }: Operation) => term('operations', id) ?? `${summary}.`;

/** What an answer has that a person must see: a secret that is shown once, or what was asked for. */
function isShown(operation: Operation, answer: unknown): boolean {
  if (operation.method === 'GET') return true;
  const text = JSON.stringify(answer ?? '');
  return (
    /"(key|secret|token|codes|uri|location|url)":/.test(text) && !('updatedAt' in (answer as object) && !/whsec|tdm_/.test(text))
  );
}

/** Shows the form of an act above the page, tells what was done, and offers to take it back. */
export function ActProvider({ children }: { children: ReactNode }) {
  const [act, setAct] = useState<Act>();
  const [answer, setAnswer] = useState<unknown>();
  const definitions = useDefinitions();
  const call = useCall();
  const change = useChange();
  const withProof = useWithProof();
  const reload = useReload();
  const tell = useTell();
  const isHere = useIsShown();
  const open = useRef<Act>(undefined);
  /** A secret is shown once, so also to who has closed its form before it came: now, or once the next form is closed. */
  const unseen = useRef<{ act: Act; answer: unknown }[]>([]);
  /** How often something was begun: a form that is read meanwhile opens over nothing else. */
  const begun = useRef(0);
  const [key, setKey] = useState(0);
  function start(form: Act | undefined): void {
    begun.current += 1;
    setKey(begun.current);
    const answered = form ? undefined : unseen.current.shift();
    open.current = form ?? answered?.act;
    setAnswer(answered?.answer);
    setAct(open.current);
  }
  async function startRead(reading: Promise<Act>): Promise<void> {
    begun.current += 1;
    const own = begun.current;
    try {
      const form = await reading;
      if (begun.current === own) start(form);
    } catch (error) {
      tell({ text: t('records.act.failed', { why: failureText(error) }), isBad: true });
    }
  }
  const close = () => {
    start(undefined);
    if (answer !== undefined) act?.onDone?.(answer);
  };
  const fields = useMemo(() => (act ? inputFieldsOf(act.operation, act.given, definitions) : []), [act, definitions]);

  async function onDone(result: unknown): Promise<void> {
    if (!act) return;
    const { operation, text } = act;
    tell({ text: t('records.act.done', { text: text.toLowerCase() }) });
    const isOpen = open.current === act;
    if (isShown(operation, result)) {
      unseen.current.push({ act, answer: result });
      if (isOpen || !open.current) start(undefined);
    } else if (isOpen) {
      start(undefined);
      act.onDone?.(result);
    }
    await reload();
  }

  /** Shows at once what an act makes of records: its form comes back only to be tried again. */
  function show(of: Act, input: Input): void {
    const { operation, text, context, effect, onFailure, onDone: shown } = of;
    start(undefined);
    shown?.(undefined);
    const version = context?.ifMatch;
    const run = () =>
      version === undefined
        ? call(operation, input, context)
        : editAfterOwn(version, (ifMatch) => call(operation, input, { ...context, ifMatch }));
    change({
      becomes: new Map(),
      ...(typeof effect === 'function' ? effect(input) : effect),
      run: () => withProof(run),
      done: t('records.act.done', { text: text.toLowerCase() }),
      onFailure: (error) => onFailure?.(error, input) === true,
      // elsewhere there is no form
      retry: (error) => (isHere.current ? () => start({ ...of, failed: { input, error } }) : undefined),
    });
  }

  return (
    <ActContext value={(one) => (one instanceof Promise ? void startRead(one) : start(one))}>
      {children}
      {act && (
        <Dialog
          title={act.title === undefined ? act.text : t('records.act.title', { text: act.text, title: act.title })}
          onClose={close}
        >
          {answer === undefined ? (
            <OperationForm
              key={key}
              operation={act.operation}
              given={act.given}
              present={act.present}
              proposed={act.proposed}
              context={act.context}
              action={act.text}
              isDangerous={act.isDangerous ?? false}
              failed={act.failed}
              onDone={(result) => void onDone(result)}
              {...(act.effect && { send: (input: Input) => show(act, input) })}
              onClose={close}
              {...(act.onFailure && { onFailure: act.onFailure })}
            >
              {fields.length === 0 && <p>{summaryOf(act.operation)}</p>}
            </OperationForm>
          ) : (
            <>
              {act.operation.method !== 'GET' && <p className="hint">{t('records.act.copy')}</p>}
              <div className="answer">
                <Value value={answer} field="answer" row={{}} kind={undefined} isLong />
              </div>
              <div className="dialog-actions">
                <Button className="primary" onClick={close}>
                  {t('ui.close')}
                </Button>
              </div>
            </>
          )}
        </Dialog>
      )}
    </ActContext>
  );
}
