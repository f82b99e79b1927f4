import { Button } from '../ui/button.js';
import { CopyButton } from '../ui/copy.js';
import { Dialog } from '../ui/dialog.js';
import { t } from '../texts/texts.js';

/** New recovery codes, shown this once, to be printed or copied. */
export function RecoveryCodes({ codes, email, onClose }: { codes: readonly string[]; email: string; onClose(): void }) {
  return (
    <Dialog title={t('security.recovery.yours')} onClose={onClose}>
      <p>{t('security.recovery.text')}</p>
      <div className="printed">
        <p className="printed-only">{t('security.recovery.printed', { email, host: location.host })}</p>
        <ol className="codes" aria-label={t('security.recovery.title')}>
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ol>
      </div>
      <div className="dialog-actions">
        <Button onClick={() => print()}>{t('security.recovery.print')}</Button>
        <CopyButton text={codes.join('\n')} />
        <Button className="primary" onClick={onClose}>
          {t('security.recovery.done')}
        </Button>
      </div>
    </Dialog>
  );
}
