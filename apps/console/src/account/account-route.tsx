import { useMe } from '../session/me.js';
import { RecordView } from '../records/record-view.js';
import { useDefinitions } from '../records/definitions.js';
import { WithDefinitions } from '../records/with-definitions.js';
import { LanguageChoice, ZoneChoice } from '../ui/language.js';
import { t } from '../texts/texts.js';

/** One's own account: profile, email, password, keys, providers, export and erasure. */
export function AccountRoute() {
  return (
    <WithDefinitions>
      <Own />
    </WithDefinitions>
  );
}

function Own() {
  const { data: me } = useMe();
  const { kinds } = useDefinitions();
  const kind = kinds.find(({ name }) => name === 'identities');
  if (!me || !kind) return null;
  return (
    <>
      <RecordView kind={kind} id={me.id} />
      <section className="panel choices" aria-label={t('ui.language.title')}>
        <h2>{t('ui.language.title')}</h2>
        <LanguageChoice />
        <ZoneChoice />
      </section>
    </>
  );
}
