import { uploadFile, type UploadProcedure, type UploadRequest } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { useController, useFormContext } from 'react-hook-form';
import { Failure } from '../ui/notices.js';
import { useCall, type Input } from './call.js';
import { isNeeded, type InputField } from './inputs.js';
import { RecordInput, RecordsInput } from './record-input.js';
import { valueText } from './words.js';
import { LATEST } from '../texts/formats.js';
import { t } from '../texts/texts.js';

interface ControlProps {
  id: string;
  /** Where its value is in the form: `price.amount`. */
  path: string;
  field: InputField;
  /** What the form knows already: the record whose file is uploaded. */
  given: Input;
  describedBy: string;
  isInvalid: boolean;
}

const TYPES = { text: 'text', email: 'email', password: 'password', number: 'text', date: 'datetime-local' } as const;

/** The control that suits a value. */
export function InputControl({ id, path, field, given, describedBy, isInvalid }: ControlProps) {
  const { register } = useFormContext();
  const { control } = field;
  const common = {
    id,
    'aria-describedby': describedBy,
    'aria-invalid': isInvalid || undefined,
    'aria-required': isNeeded(field) || undefined,
  };
  switch (control.type) {
    case 'choice':
      return (
        <select {...common} {...register(path)}>
          <option value="">{isNeeded(field) ? t('records.form.choose') : '—'}</option>
          {control.values.map((value) => (
            <option key={value} value={value}>
              {valueText(value, field.name)}
            </option>
          ))}
        </select>
      );
    case 'flag':
      return (
        <select {...common} {...register(path, { setValueAs: (value) => (value === '' ? '' : String(value) === 'true') })}>
          <option value="">—</option>
          <option value="true">{t('records.form.yes')}</option>
          <option value="false">{t('records.form.no')}</option>
        </select>
      );
    case 'choices':
      return (
        <select {...common} multiple {...register(path)}>
          {control.values.map((value) => (
            <option key={value} value={value}>
              {valueText(value, field.name)}
            </option>
          ))}
        </select>
      );
    case 'long':
      return <textarea {...common} rows={4} {...register(path)} />;
    case 'texts':
      return <textarea {...common} rows={3} placeholder={t('records.form.lines')} {...register(path)} />;
    case 'json':
      return <textarea {...common} rows={5} className="code" spellCheck={false} placeholder="JSON" {...register(path)} />;
    case 'record':
      return <ControlledRecord {...common} path={path} kind={control.kind} />;
    case 'records':
      return <ControlledRecords {...common} path={path} kind={control.kind} />;
    case 'file':
      return <FileInput {...common} path={path} upload={control.upload} given={given} />;
    case 'object':
    case 'items':
      return null;
    default:
      return (
        <input
          {...common}
          type={TYPES[control.type]}
          max={control.type === 'date' ? LATEST : undefined}
          inputMode={control.type === 'number' ? 'decimal' : undefined}
          autoComplete={control.type === 'password' ? 'new-password' : 'off'}
          {...register(path)}
        />
      );
  }
}

interface CommonProps {
  id: string;
  path: string;
  'aria-describedby': string;
}

function ControlledRecord({ path, ...props }: CommonProps & { kind: Parameters<typeof RecordInput>[0]['kind'] }) {
  const { field } = useController({ name: path });
  return <RecordInput {...props} name={path} value={field.value as string} onChange={field.onChange} />;
}

function ControlledRecords({ path, ...props }: CommonProps & { kind: Parameters<typeof RecordInput>[0]['kind'] }) {
  const { field } = useController({ name: path });
  return <RecordsInput {...props} name={path} value={field.value as string[]} onChange={field.onChange} />;
}

interface FileInputProps extends CommonProps {
  upload: Parameters<ReturnType<typeof useCall>>[0];
  given: Input;
}

/** The key of uploads under way. */
export const UPLOAD = ['upload'];

/** Uploads the chosen file at once; the form has what it was uploaded as. */
function FileInput({ path, upload, given, ...props }: FileInputProps) {
  const { field } = useController({ name: path });
  const call = useCall();
  const last = useRef<File>(undefined);
  const uploading = useMutation({
    mutationKey: UPLOAD,
    mutationFn: async (file: File) => {
      const query = (input: UploadRequest) => call(upload, { ...input }) as ReturnType<UploadProcedure<UploadRequest>['query']>;
      return uploadFile({ query }, given as object, file);
    },
    // another may have been chosen meanwhile
    onSuccess: (made, file) => file === last.current && field.onChange(made),
  });
  // before, by a form that failed
  const isUploaded = uploading.isIdle && Boolean(field.value);
  return (
    <>
      <input
        {...props}
        type="file"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          last.current = file;
          field.onChange('');
          if (file) uploading.mutate(file);
        }}
      />
      {uploading.isPending && <output className="hint">{t('records.form.uploading')}</output>}
      {(uploading.isSuccess || isUploaded) && <output className="hint">{t('records.form.uploaded')}</output>}
      <Failure of={uploading.error} />
    </>
  );
}
