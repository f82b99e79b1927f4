import { LANGUAGES, chooseLanguage, chooseZone, chosenZone, readerLanguage, t, type Language } from '../texts/texts.js';
import { Choice } from './field.js';

const NAMES = Object.entries(LANGUAGES) as [Language, string][];

/** The language of the console, chosen. */
export function LanguageChoice() {
  return (
    <Choice<Language>
      label={t('ui.language.label')}
      value={readerLanguage()}
      options={NAMES}
      onChange={(language) => void chooseLanguage(language)}
    />
  );
}

/** The zone of all times, chosen. */
export function ZoneChoice() {
  const { timeZone: zone } = new Intl.DateTimeFormat().resolvedOptions();
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];
  return (
    <Choice
      label={t('ui.language.zone')}
      value={chosenZone() ?? ''}
      options={[['', t('ui.language.ofBrowser', { zone })], ...zones.map((name) => [name, name] as const)]}
      onChange={(chosen) => chooseZone(chosen === '' ? null : chosen)}
    />
  );
}
