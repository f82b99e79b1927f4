import { useState } from 'react';
import { Button } from './button.js';
import { Icon } from './icons.js';
import { t } from '../texts/texts.js';

const KEY = 'tandem.theme';
const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

function keptTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

/** Applies the stored choice before anything is drawn. */
export function applyTheme(theme: Theme = keptTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Cycles through system, light and dark. */
export function ThemeButton() {
  const [theme, setTheme] = useState(keptTheme);
  function turn(): void {
    const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
    localStorage.setItem(KEY, next);
    applyTheme(next);
    setTheme(next);
  }
  const label = t('ui.theme.label', { theme: t(`ui.theme.${theme}`) });
  return (
    <Button className="quiet icon-button" onClick={turn} title={label} aria-label={label}>
      <Icon name={theme} />
    </Button>
  );
}
