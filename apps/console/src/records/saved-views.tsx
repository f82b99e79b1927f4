import { useState } from 'react';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { Menu } from '../ui/menu.js';
import type { RecordList } from './definitions.js';
import type { ListState } from './list-state.js';

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
      ? [{ text: 'Save this view…', run: () => setNaming(true) }]
      : [
          {
            text: `Forget “${present}”`,
            isDangerous: true,
            run: () => save(Object.fromEntries(Object.entries(views).filter(([name]) => name !== present))),
          },
        ]),
  ];
  return (
    <>
      <Menu label="Saved views" entries={() => entries}>
        {present ?? 'Views'}
      </Menu>
      {isNaming && (
        <Dialog title="Save this view" onClose={() => setNaming(false)}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              const name = (new FormData(event.currentTarget).get('name') as string).trim();
              save({ ...views, [name]: state });
              setNaming(false);
            }}
          >
            <Field
              label="Name"
              name="name"
              required
              maxLength={60}
              pattern=".*\S.*"
              autoComplete="off"
              hint="Kept in this browser"
            />
            <div className="dialog-actions">
              <Button onClick={() => setNaming(false)}>Cancel</Button>
              <Button type="submit" className="primary">
                Save
              </Button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
