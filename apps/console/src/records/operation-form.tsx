import { describeFailure, randomId } from '@tandem/client';
import { useIsMutating, useMutation } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useId, useMemo, useRef, type ReactNode } from 'react';
import { FormProvider, set, useForm, useFormContext, type FieldErrors, type ResolverResult } from 'react-hook-form';
import type { Operation } from '../reference/reference.js';
import { Button } from '../ui/button.js';
import { Failure } from '../ui/notices.js';
import { useCall, type CallContext, type Input } from './call.js';
import { InputControl, UPLOAD } from './controls.js';
import { ItemsControl } from './items-control.js';
import { useDefinitions } from './definitions.js';
import { changesOf, inputOf, problemsOf, typedOf, unreadValues, type Typed } from './form-values.js';
import { inputFieldsOf, isNeeded, type InputField } from './inputs.js';
import { patched } from './own-data.js';
import { useWithProof } from '../security/proof.js';
import { descriptionText, labelOf } from './words.js';
import { problem, t } from '../texts/texts.js';

interface OperationFormProps {
  operation: Operation;
  /** What is known already, and not asked for. */
  given: Input;
  /** What stands in the fields at first: then only changes are sent. */
  present?: Readonly<Record<string, unknown>> | undefined;
  /** What is proposed. */
  proposed?: Input | undefined;
  context?: CallContext | undefined;
  /** Label of the button. */
  action: string;
  isDangerous?: boolean;
  children?: ReactNode;
  /** What was sent in vain: it stands in the fields. */
  failed?: { input: Input; error: unknown } | undefined;
  /** Sends it; the form does otherwise. */
  send?(input: Input): void;
  onDone(answer: unknown): void;
  onClose(): void;
  /** Called instead of showing a failure; returns whether it has dealt with it. */
  onFailure?(error: unknown, input: Input): boolean;
}

/** The header that makes an operation safe to repeat. */
const KEY = 'Idempotency-Key';

/** `request body/price/amount must be …` and `query parameter 'roles' must …`: the field, and what is wrong with it. */
const PROBLEM = /^(?:request body\/|query parameter '|path parameter ')([/\w]+)'?\s+(.*)$/;

/** A form for any operation, made of what it takes. Errors stand at their fields. */
export function OperationForm(props: OperationFormProps) {
  const { operation, given, present, proposed, context, action, isDangerous, children, onDone, onClose, onFailure } = props;
  const { failed, send } = props;
  const definitions = useDefinitions();
  const call = useCall();
  const withProof = useWithProof();
  const { resolve } = definitions.reference;
  const fields = useMemo(() => inputFieldsOf(operation, given, definitions), [operation, given, definitions]);
  const before = useMemo(() => typedFields(fields, { ...proposed, ...present }), [fields, present, proposed]);

  function inputFrom(typed: Typed): Input {
    return { ...given, ...(present ? changesOf(typed, before, fields) : inputOf(typed, fields)) };
  }

  const shown = useRef<HTMLFormElement>(null);
  function problemsIn(typed: Typed): Problem[] {
    const inputs = unreadIn(shown.current).map((one): Problem => [one.name, unreadText(one)]);
    const unread = [...unreadValues(typed, fields), ...inputs];
    if (unread.length > 0) return unread;
    const input = inputFrom(typed);
    const asked = present ? fields.filter(({ name }) => Object.hasOwn(input, name)) : fields;
    // what is given, such as too many chosen rows, has no field
    const placeOf = (name: string) => (fields.some((field) => field.name === name) ? name : 'root');
    return [...problemsOf(operation, input, asked, resolve)].map(([name, message]) => [placeOf(name), message]);
  }
  const form = useForm<Typed>({
    defaultValues: failed ? typedFields(fields, { ...proposed, ...present, ...patched(present ?? {}, failed.input) }) : before,
    resolver(typed): ResolverResult<Typed> {
      const problems = problemsIn(typed);
      return problems.length > 0 ? { values: {}, errors: errorsOf(problems) } : { values: typed, errors: {} };
    },
  });
  const { isDirty, errors } = form.formState;

  const isUploading = useIsMutating({ mutationKey: UPLOAD }) > 0;
  const submit = (typed: Typed): void => {
    if (isUploading) return;
    if (send) send(inputFrom(typed));
    else if (!sending.isPending) sending.mutate(typed);
  };
  /** What is sent again after a lost answer keeps its key, so that it makes one record. */
  const sent = useRef({ text: '', idempotencyKey: '' });
  function contextOf(input: Input): CallContext | undefined {
    if (!operation.parameters.some(({ name }) => name === KEY)) return context;
    const text = JSON.stringify(input);
    if (sent.current.text !== text) sent.current = { text, idempotencyKey: randomId() };
    return { ...context, idempotencyKey: sent.current.idempotencyKey };
  }
  const sending = useMutation({
    async mutationFn(typed: Typed) {
      const input = inputFrom(typed);
      return withProof(() => call(operation, input, contextOf(input)));
    },
    onSuccess: (answer) => answer !== null && onDone(answer),
    onError(error, typed) {
      if (onFailure?.(error, inputFrom(typed))) return;
      tellProblems(error);
    },
  });
  function tellProblems(error: unknown): void {
    for (const said of describeFailure(error).data) {
      const [, place = '', message] = PROBLEM.exec(said) ?? [];
      const path = pathOf(place, fields);
      if (path !== undefined) form.setError(path, { type: 'server', message: problem(said)?.text ?? message ?? said });
    }
  }
  const tellFailed = useEffectEvent(() => {
    if (failed) tellProblems(failed.error);
  });
  useEffect(() => tellFailed(), []);
  useEffect(() => {
    if (!isDirty) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isDirty]);

  return (
    <FormProvider {...form}>
      <form
        ref={shown}
        noValidate
        className="operation-form"
        onSubmit={(event) => {
          event.stopPropagation();
          void form.handleSubmit(submit, () => unreadIn(shown.current)[0]?.focus())(event);
        }}
      >
        {children}
        {!sending.error && <Failure of={failed?.error} />}
        {fields.map((field) => (
          <FormField key={field.name} field={field} path={field.name} given={given} />
        ))}
        {errors.root && (
          <p className="problem" role="alert">
            {errors.root.message}
          </p>
        )}
        <Failure of={sending.error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" className={isDangerous ? 'danger' : 'primary'} isOff={sending.isPending || isUploading}>
            {sending.isPending ? t('ui.oneMoment') : action}
          </Button>
        </div>
      </form>
    </FormProvider>
  );
}

/** Where a form shows what is wrong at `price/amount`: at the part of a field, if that has one. */
function pathOf(place: string, fields: readonly InputField[]): string | undefined {
  const [name = '', part = ''] = place.split('/');
  const field = fields.find((one) => one.name === name);
  const isPart = field?.control.type === 'object' && field.control.fields.some((one) => one.name === part);
  return field && (isPart ? `${name}.${part}` : name);
}

/** Inputs in which something stands that is no value: a time without its year, or a name for which nothing was chosen. */
function unreadIn(form: HTMLFormElement | null): HTMLInputElement[] {
  const inputs = [...(form?.elements ?? [])].filter((one) => one instanceof HTMLInputElement);
  return inputs.filter(({ validity }) => validity.badInput || validity.customError);
}

const unreadText = ({ validity, validationMessage }: HTMLInputElement) =>
  validity.customError ? validationMessage : t('records.form.noTime');

type Problem = [path: string, message: string];

function errorsOf(problems: readonly Problem[]): FieldErrors<Typed> {
  const errors = {};
  for (const [path, message] of problems) set(errors, path, { type: 'typed', message });
  return errors;
}

function typedFields(fields: readonly InputField[], values: Readonly<Record<string, unknown>>): Typed {
  return Object.fromEntries(fields.map(({ name, control }) => [name, typedOf(values[name], control)]));
}

/** A field with its label, what it is for, and what is wrong with it. */
function FormField({ field, path, given }: { field: InputField; path: string; given: Input }) {
  const { name, description, control } = field;
  const {
    formState: { errors },
  } = useFormContext();
  const id = useId();
  const error = path.split('.').reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], errors);
  const { message } = (error ?? {}) as { message?: string };
  if (control.type === 'object')
    return (
      <fieldset className="fields">
        <legend>{labelOf(name)}</legend>
        {message !== undefined && <p className="problem">{message}</p>}
        {control.fields.map((part) => (
          <FormField key={part.name} field={part} path={`${path}.${part.name}`} given={given} />
        ))}
      </fieldset>
    );
  if (control.type === 'items')
    return (
      <fieldset className="fields">
        <legend>{labelOf(name)}</legend>
        <p className={message === undefined ? 'hint' : 'problem'}>{message ?? descriptionText(description)}</p>
        <ItemsControl
          path={path}
          label={name}
          fields={control.fields}
          renderField={(part, at) => <FormField key={part.name} field={part} path={at} given={given} />}
        />
      </fieldset>
    );
  return (
    <div className={message === undefined ? 'field' : 'field field-bad'}>
      <label htmlFor={id}>
        {labelOf(name)}
        {!isNeeded(field) && <span className="hint"> {t('records.form.optional')}</span>}
      </label>
      <InputControl
        id={id}
        path={path}
        field={field}
        given={given}
        describedBy={`${id}-hint`}
        isInvalid={message !== undefined}
      />
      <p className={message === undefined ? 'hint' : 'problem'} id={`${id}-hint`}>
        {message ?? descriptionText(description)}
      </p>
    </div>
  );
}
