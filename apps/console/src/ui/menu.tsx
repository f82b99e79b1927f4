import type { ReactNode } from 'react';
import { Icon } from './icons.js';
import { MenuItem, Popup } from './popup.js';
import { t } from '../texts/texts.js';

export interface MenuEntry {
  text: string;
  isDangerous?: boolean | undefined;
  run(): void;
}

interface MenuProps {
  label: string;
  /** What the button shows; three dots if absent. */
  children?: ReactNode;
  /** Of the button. */
  className?: string;
  /** Asked for when the menu opens; `false` stands for what one may not do. */
  entries(): readonly (MenuEntry | false)[];
}

/** A button that opens a list of actions. */
export function Menu({ label, children, className, entries }: MenuProps) {
  const look = className ?? (children === undefined ? 'quiet icon-button' : '');
  return (
    <Popup kind="menu" label={label} className={look} button={children ?? <Icon name="more" />}>
      {(close) => {
        const all = entries().filter((entry) => entry !== false);
        if (all.length === 0) return <p className="hint">{t('ui.nothingToDo')}</p>;
        return all.map(({ text, isDangerous = false, run }) => (
          <MenuItem
            key={text}
            className={isDangerous ? 'bad' : ''}
            onChoose={() => {
              close();
              run();
            }}
          >
            {text}
          </MenuItem>
        ));
      }}
    </Popup>
  );
}
