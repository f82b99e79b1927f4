import { useState } from 'react';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { Menu } from '../ui/menu.js';
import type { RecordList } from './definitions.js';
import type { ListState } from './list-state.js';
import { t } from '../texts/texts.js';

type Views = Record<string, ListState>;

/** The views of a list that somebody has saved in this browser. */
function useSaved(list: string): [Views, (views: Views) => void] {
  const key = `tandem.views.${list}`;
  const [views, setViews] = useState(() => JSON.parse(localStorage.getItem(key) ?? '{}') as Views);
  return [
    views,
    (next) => {
      localStorage.setItem(key, JSON.stringify(next));
      setViews(next);
    },
  ];
}

interface SavedViewsProps {
  list: RecordList;
  state: ListState;
  change(state: ListState): void;
}

/** Searches, filters, orders and groups of a list under names of one's own. */
export function SavedViews({ list, state, change }: SavedViewsProps) {
  const [views, save] = useSaved(list.operation.id);
  const [isNaming, setNaming] = useState(false);
  const present = Object.keys(views).find((name) => JSON.stringify(views[name]) === JSON.stringify(state));
  const entries = [
    ...Object.entries(views).map(([name, view]) => ({ text: name, run: () => change(view) })),
    ...(present === undefined
      ? [{ text: t('records.views.save'), run: () => setNaming(true) }]
      : [
          {
            text: t('records.views.forget', { name: present }),
            isDangerous: true,
            run: () => save(Object.fromEntries(Object.entries(views).filter(([name]) => name !== present))),
          },
        ]),
  ];
  return (
    <>
      <Menu label={t('records.views.label')} entries={() => entries}>
        {present ?? t('records.views.title')}
      </Menu>
      {isNaming && (
        <Dialog title={t('records.views.saveTitle')} onClose={() => setNaming(false)}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              const name = (new FormData(event.currentTarget).get('name') as string).trim();
              save({ ...views, [name]: state });
              setNaming(false);
            }}
          >
            <Field
              label={t('records.views.name')}
              name="name"
              required
              maxLength={60}
              pattern=".*\S.*"
              autoComplete="off"
              hint={t('records.views.hint')}
            />
            <div className="dialog-actions">
              <Button onClick={() => setNaming(false)}>{t('ui.cancel')}</Button>
              <Button type="submit" className="primary">
                {t('ui.save')}
              </Button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
