import { isError, versionOf } from '@tandem/client';
import { useState, type ReactNode } from 'react';
import type { Operation } from '../reference/reference.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { failureText } from '../ui/failure-text.js';
import { Failure } from '../ui/notices.js';
import { useTell } from '../ui/toasts.js';
import { useCall, useReload, type Input, type Row } from './call.js';
import { useIsShown } from './is-shown.js';
import { Value } from './values.js';
import { labelOf } from './words.js';
import { t } from '../texts/texts.js';

interface Edit {
  patch: Operation;
  given: Input;
  /** The record as the form showed it. */
  before: Row;
  /** Reads it as it is now, with its version. */
  read(): Promise<Row>;
}

interface Conflict extends Edit {
  input: Input;
  now: Row;
  version: string;
}

/** What to do when somebody else was faster: the difference is shown, and nothing is overwritten unseen. */
export function useConflict(): { onFailure(edit: Edit): (error: unknown, input: Input) => boolean; dialog: ReactNode } {
  const [conflict, setConflict] = useState<Conflict>();
  const [failure, setFailure] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const call = useCall();
  const reload = useReload();
  const tell = useTell();
  const isHere = useIsShown();

  async function show(edit: Edit, input: Input): Promise<void> {
    const now = await edit.read();
    setFailure(undefined);
    setConflict({ ...edit, input, now, version: versionOf(now) });
  }
  async function showOrTell(edit: Edit, input: Input): Promise<void> {
    try {
      await show(edit, input);
    } catch (error) {
      const again = { text: t('ui.tryAgain'), run: () => void showOrTell(edit, input) };
      tell({ text: t('records.act.failed', { why: failureText(error) }), isBad: true, action: again });
    }
  }
  const onFailure = (edit: Edit) => (error: unknown, input: Input) => {
    // elsewhere nobody would see the difference
    if (!isError(error, 'request.preconditionFailed') || !isHere.current) return false;
    void showOrTell(edit, input);
    return true;
  };
  async function save(found: Conflict): Promise<void> {
    const { patch, input, version } = found;
    setSaving(true);
    try {
      await call(patch, input, { ifMatch: version });
      setConflict(undefined);
      await reload();
    } catch (error) {
      // somebody was faster once more
      if (isError(error, 'request.preconditionFailed')) await show(found, input).catch(setFailure);
      else setFailure(error);
    } finally {
      setSaving(false);
    }
  }

  const names = conflict ? Object.keys(conflict.input).filter((name) => !Object.hasOwn(conflict.given, name)) : [];
  const theirs = conflict
    ? Object.keys(conflict.now).filter(
        (name) => name !== 'updatedAt' && JSON.stringify(conflict.now[name]) !== JSON.stringify(conflict.before[name]),
      )
    : [];
  const dialog = conflict && (
    <Dialog title={t('records.conflict.title')} onClose={() => setConflict(undefined)}>
      <table className="differences">
        <thead>
          <tr>
            <th scope="col">{t('records.conflict.field')}</th>
            <th scope="col">{t('records.conflict.now')}</th>
            <th scope="col">{t('records.conflict.yours')}</th>
          </tr>
        </thead>
        <tbody>
          {[...new Set([...theirs, ...names])].map((name) => (
            <tr key={name}>
              <th scope="row">{labelOf(name)}</th>
              <td>
                <Value value={conflict.now[name]} field={name} row={conflict.now} kind={undefined} />
              </td>
              <td>
                {names.includes(name) ? (
                  <Value value={conflict.input[name]} field={name} row={{}} kind={undefined} />
                ) : (
                  t('records.conflict.same')
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Failure of={failure} />
      <div className="dialog-actions">
        <Button
          onClick={() => {
            setConflict(undefined);
            void reload();
          }}
        >
          {t('records.conflict.keep')}
        </Button>
        <Button className="primary" isOff={isSaving} onClick={() => void save(conflict)}>
          {t('records.conflict.save')}
        </Button>
      </div>
    </Dialog>
  );
  return { onFailure, dialog };
}
